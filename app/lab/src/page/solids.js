// Cubes in 3D by WebGL 2: many at once, with one light and its shadow, as bodies or as outlines. What is drawn, and where,
// others say; this knows the graphics card.

/** Numbers of an instance: middle, rotation, half of each edge, colour with opacity. */
export const INSTANCE = 14;
const SHADOW_PIXELS = 2048;
/** Where the indices of the upper face begin: the fourth of six. */
const TOP = 18;

const CUBE = cube();

const PLACED = `
layout(location = 0) in vec3 corner;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 middle;
layout(location = 3) in vec4 turn;
layout(location = 4) in vec3 half_m;
layout(location = 5) in vec4 tone;
vec3 turned(vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
`;

const LIT = `
uniform highp sampler2DShadow shades;
uniform vec3 sun;
float light(vec4 at) {
  vec3 p = at.xyz / at.w * 0.5 + 0.5;
  if (p.x < 0.0 || p.x > 1.0 || p.y < 0.0 || p.y > 1.0) return 1.0;
  float sum = 0.0;
  for (int x = -1; x <= 1; x++) for (int y = -1; y <= 1; y++) sum += texture(shades, vec3(p.xy + vec2(x, y) * 2.0 / ${SHADOW_PIXELS}.0, p.z - 0.0012));
  return sum / 9.0;
}
`;

const PROGRAMS = {
  shade: [`${PLACED} uniform mat4 sunlight; void main() { gl_Position = sunlight * vec4(middle + turned(corner * half_m), 1.0); }`,
    "void main() {}"],
  body: [`${PLACED}
uniform mat4 camera; uniform mat4 sunlight;
out vec3 at; out vec3 local; out vec3 side; out vec4 colour; out vec4 quat; out vec4 lit;
void main() {
  at = middle + turned(corner * half_m); local = corner; side = normal; colour = tone; quat = turn;
  lit = sunlight * vec4(at + turned(normal) * 0.02, 1.0); gl_Position = camera * vec4(at, 1.0);
}`, `${LIT}
uniform vec3 eye;
in vec3 at; in vec3 local; in vec3 side; in vec4 colour; in vec4 quat; in vec4 lit; out vec4 pixel;
vec3 turned(vec3 v) { return v + 2.0 * cross(quat.xyz, cross(quat.xyz, v) + quat.w * v); }
void main() {
  // Edges are rounded for the light alone.
  vec3 rim = (1.0 - abs(side)) * sign(local) * smoothstep(0.84, 1.0, abs(local));
  vec3 n = turned(normalize(side + 0.55 * rim));
  float sky = 0.5 + 0.5 * n.y;
  float lighted = light(lit);
  float sunny = max(dot(n, sun), 0.0) * lighted;
  float near = mix(0.74, 1.0, smoothstep(0.0, 0.5, at.y + 0.2 * sky));
  float shine = pow(max(dot(n, normalize(sun + normalize(eye - at))), 0.0), 48.0) * 0.16 * lighted;
  pixel = vec4(colour.rgb * (mix(0.46, 0.68, sky) * near + 0.48 * sunny) + shine, colour.a);
}`],
  outline: [`${PLACED}
uniform mat4 camera;
out vec3 local; out vec3 side; out vec4 colour;
void main() {
  local = corner; side = normal; colour = tone;
  gl_Position = camera * vec4(middle + turned(corner * (half_m * 1.012)), 1.0);
}`, `
uniform float dash; uniform float wide;
in vec3 local; in vec3 side; in vec4 colour; out vec4 pixel;
void main() {
  // On its face: along the two axes that are not its normal.
  vec2 p = side.x != 0.0 ? local.yz : side.y != 0.0 ? local.xz : local.xy;
  vec2 pixels = (1.0 - abs(p)) / fwidth(p);
  float edge = min(pixels.x, pixels.y);
  float along = pixels.x < pixels.y ? p.y : p.x;
  float on = dash > 0.0 ? step(0.42, fract(along * dash)) : 1.0;
  float line = (1.0 - smoothstep(wide - 0.6, wide + 0.6, edge)) * on;
  float alpha = max(line, 0.06) * colour.a;
  pixel = vec4(colour.rgb, alpha);
}`],
  contact: [`${PLACED}
uniform mat4 camera; out vec2 p; out float dark;
void main() {
  float far = half_m.x * 1.9; p = corner.xz; dark = 0.42 * exp(-max(middle.y - half_m.y, 0.0) / (0.9 * half_m.y));
  gl_Position = camera * vec4(middle.x + corner.x * far, 0.004, middle.z + corner.z * far, 1.0);
}`, `
uniform float strength; in vec2 p; in float dark; out vec4 pixel;
void main() {
  vec2 off = max(abs(p) - 0.42, 0.0) / 0.58;
  pixel = vec4(0.0, 0.0, 0.0, dark * strength * pow(clamp(1.0 - length(off), 0.0, 1.0), 1.8));
}`],
  floor: [`
layout(location = 0) in vec3 corner;
uniform mat4 camera; uniform mat4 sunlight; uniform float half_m; out vec2 at; out vec4 lit;
void main() { vec3 p = vec3(corner.x * half_m, 0.0, corner.z * half_m); at = p.xz; lit = sunlight * vec4(p, 1.0); gl_Position = camera * vec4(p, 1.0); }`,
  `${LIT}
uniform vec3 ground; uniform vec3 grid; uniform float shade;
in vec2 at; in vec4 lit; out vec4 pixel;
void main() {
  vec2 wide = fwidth(at);
  vec2 off = abs(fract(at - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(vec2(0.1), vec2(0.9), off / wide);
  float lines = max(line.x, line.y) * clamp(0.12 / max(wide.x, wide.y), 0.0, 1.0);
  vec3 base = mix(ground, grid, 0.7 * lines);
  pixel = vec4(base * mix(1.0 - shade, 1.0, light(lit)), 1.0);
}`],
  ribbon: [`
layout(location = 0) in vec3 corner; layout(location = 2) in vec3 from; layout(location = 3) in vec4 to; layout(location = 5) in vec4 tone;
uniform mat4 camera; uniform vec2 size; out vec4 colour;
void main() {
  vec4 a = camera * vec4(from, 1.0); vec4 b = camera * vec4(to.xyz, 1.0);
  vec2 way = (b.xy / b.w - a.xy / a.w) * size; float length_px = max(length(way), 0.001);
  vec2 beside = vec2(-way.y, way.x) / length_px / size;
  vec4 here = corner.x < 0.0 ? a : b; here.xy += beside * corner.z * to.w * here.w; colour = tone; gl_Position = here;
}`, "in vec4 colour; out vec4 pixel; void main() { pixel = colour; }"],
};

function cube() {
  const [corners, normals, indices] = [[], [], []];
  for (const axis of [0, 1, 2]) {
    for (const sign of [-1, 1]) {
      const first = corners.length / 3;
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        const corner = [0, 0, 0];
        const normal = [0, 0, 0];
        corner[axis] = normal[axis] = sign;
        corner[(axis + 1) % 3] = u * sign;
        corner[(axis + 2) % 3] = v;
        corners.push(...corner);
        normals.push(...normal);
      }
      indices.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
  }
  return { corners: new Float32Array(corners), normals: new Float32Array(normals), indices: new Uint16Array(indices) };
}

function compiled(gl, [vertex, fragment]) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;\n${source}`);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`a program for the graphics card: ${gl.getProgramInfoLog(program)} ${logs.join(" ")}`);
  }
  return program;
}

export class Solids {
  /** `gl` is a context of WebGL 2. */
  constructor(gl) {
    this.gl = gl;
    this.programs = Object.fromEntries(Object.entries(PROGRAMS).map(([name, sources]) => [name, compiled(gl, sources)]));
    this.places = new Map();
    this.geometry();
    this.shadow();
  }

  geometry() {
    const gl = this.gl;
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    for (const [at, data] of [[0, CUBE.corners], [1, CUBE.normals]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 0, 0);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, CUBE.indices, gl.STATIC_DRAW);
    this.instances = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    [[2, 3, 0], [3, 4, 3], [4, 3, 7], [5, 4, 10]].forEach(([at, size, offset]) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, INSTANCE * 4, offset * 4);
      gl.vertexAttribDivisor(at, 1);
    });
  }

  /** What the light sees, as depths. */
  shadow() {
    const gl = this.gl;
    this.shades = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.shades);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW_PIXELS, SHADOW_PIXELS);
    for (const [name, value] of [["MIN_FILTER", gl.LINEAR], ["MAG_FILTER", gl.LINEAR], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE], ["COMPARE_MODE", gl.COMPARE_REF_TO_TEXTURE]]) {
      gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], value);
    }
    this.shadows = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadows);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shades, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  use(name, values) {
    const gl = this.gl;
    const program = this.programs[name];
    gl.useProgram(program);
    for (const [uniform, value] of Object.entries(values)) {
      const key = `${name}.${uniform}`;
      if (!this.places.has(key)) this.places.set(key, gl.getUniformLocation(program, uniform));
      const at = this.places.get(key);
      if (typeof value === "number") gl.uniform1f(at, value);
      else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
      else if (value.length === 3) gl.uniform3fv(at, value);
      else gl.uniform2fv(at, value);
    }
  }

  /** Begins a picture of a background's colour, with the shadows of these instances. */
  begin({ casters, sunlight, background }) {
    const gl = this.gl;
    gl.bindVertexArray(this.array);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.bindTexture(gl.TEXTURE_2D, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadows);
    gl.viewport(0, 0, SHADOW_PIXELS, SHADOW_PIXELS);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.use("shade", { sunlight });
    this.many(casters);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, this.shades);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(...background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Draws instances by a program; transparent ones hide nothing behind them. */
  draw(name, values, instances, clear = false) {
    const gl = this.gl;
    this.use(name, values);
    if (clear) gl.enable(gl.BLEND);
    else gl.disable(gl.BLEND);
    gl.depthMask(!clear);
    this.many(instances);
  }

  /** The floor: the upper face of a flat cube. */
  floor(values) {
    this.use("floor", values);
    this.gl.disable(this.gl.BLEND);
    this.gl.drawElements(this.gl.TRIANGLES, 6, this.gl.UNSIGNED_SHORT, TOP * 2);
  }

  /** Of flat programs only the upper face is drawn. */
  many(instances, flat = false) {
    const gl = this.gl;
    const count = instances.length / INSTANCE;
    if (!count) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(instances), gl.DYNAMIC_DRAW);
    gl.drawElementsInstanced(gl.TRIANGLES, flat ? 6 : 36, gl.UNSIGNED_SHORT, flat ? TOP * 2 : 0, count);
  }

  /** Transparent and flat: what lies on the floor, and lines; `above` whatever stands before them. */
  flat(name, values, instances, above = false) {
    const gl = this.gl;
    this.use(name, values);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.disable(gl.CULL_FACE);
    if (above) gl.disable(gl.DEPTH_TEST);
    this.many(instances, true);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
  }
}
