/**
 * Checks which URLs a server may ask a user to open: URLs of web pages, which begin with `https:` or `http:`. With a URL of another scheme,
 * a browser might run code that the URL contains, read the disk of the user, or start a program on the machine of the user. Therefore the
 * client (`ClientFeatures`) does not pass a URL with another scheme to its application, and the server (`Ask`) does not send one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling
 */
const ofPages: ReadonlySet<string> = new Set(["http:", "https:"])

/** Characters that a browser ignores before the scheme and inside the scheme. */
const unseen = /^[^\x21-\uffff]+|[\t\r\n]+/g

/** Returns the reason why a server must not ask a user to open a URL, as the end of a sentence; `undefined` when the server may ask. */
export const problem = (url: string): string | undefined => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url.replace(unseen, ""))?.[0].toLowerCase()
  return scheme !== undefined && !ofPages.has(scheme)
    ? `has the scheme "${scheme}", which is not the scheme of a page: use https:`
    : undefined
}
