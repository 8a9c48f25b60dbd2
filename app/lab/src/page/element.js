// One element of the page, with what is in it.

/** A new `tag` of class `className` (or none) that holds `children`: elements or texts. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}
