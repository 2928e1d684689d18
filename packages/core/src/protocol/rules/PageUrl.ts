/**
 * Which URLs a server may ask a user to open: URLs of web pages, `https:` and `http:`. With the URL of another scheme, a browser runs code
 * that the URL contains, reads the user's disk, or starts a program of the user's machine. So the client (`ClientFeatures`) does not show
 * such a URL to its application, and the server (`Ask`) does not send such a URL.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling
 */
const ofPages: ReadonlySet<string> = new Set(["http:", "https:"])

/** What a browser does not see before the scheme, and in the scheme. */
const unseen = /^[^\x21-\uffff]+|[\t\r\n]+/g

/** Why a user must not be asked to open a URL, as the end of a sentence; `undefined` when the user may be asked. */
export const problem = (url: string): string | undefined => {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url.replace(unseen, ""))?.[0].toLowerCase()
  return scheme !== undefined && !ofPages.has(scheme)
    ? `has the scheme "${scheme}", which is not the scheme of a page: use https:`
    : undefined
}
