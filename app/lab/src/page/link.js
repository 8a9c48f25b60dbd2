// Links of a run: made of this page's address and what the program wrote; copied by whichever way the browser allows.

/** The address that opens the run of `fragment`. */
export function linkOf(fragment) {
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** Copies `text`; where the browser refuses, shows it in `dialog`, selected in `field`. Whether it was copied. */
export async function copyText(text, dialog, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No secure context (another device on the network) or no permission: the old way, then by hand.
  }
  field.value = text;
  dialog.showModal();
  field.select();
  const copied = document.execCommand("copy");
  if (copied) dialog.close();
  return copied;
}
