/**
 * The URL that the requests of a document begin with: the one that the application gives, or the first of the document's
 * servers, which an operation may replace. It is fixed when the document is read.
 */
import * as Document from "./Document.js"

/** `own` is the server of one operation. */
export const base = (document: Document.Document, given: string | undefined, own?: Document.At | undefined): URL => {
  if (given !== undefined) return checked(given, "", "the option \"baseUrl\"")
  const server = own ?? Document.elements({ value: document.root, pointer: "" }, "servers")[0]
  const url = Document.text(server?.value.url)
  if (server === undefined || url === undefined) {
    return Document.refuse("/servers", "names no server: give the option \"baseUrl\"")
  }
  const variables = new Map(Document.members(Document.member(server, "variables")))
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = variables.get(name)?.value.default
    return typeof value === "string"
      ? value
      : Document.refuse(server.pointer, `has no default for the variable {${name.slice(0, 100)}} of its URL`)
  })
  return checked(filled, `${server.pointer}/url`, "the URL of the server")
}

const checked = (text: string, pointer: string, what: string): URL => {
  if (!URL.canParse(text)) {
    return Document.refuse(
      pointer,
      `needs an absolute URL, and ${what} is ${Document.shown(text)}: give the option "baseUrl"`
    )
  }
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    ? url
    : Document.refuse(pointer, `needs a URL of http or https without a user, and ${what} has another`)
}
