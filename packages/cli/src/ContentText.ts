/**
 * Shows the content of results as text in a terminal, for `Call` and `Inspect`. A text stays unchanged. An image, audio, a blob or a link
 * becomes one line that describes it. With `--out`, `Call` writes the bytes of images, audio and blobs to files.
 */
import type { ContentBlock, ResourceContents } from "@effect-mcp/core/protocol/Content"
import { lines, paint, type Styled } from "./CommandOutput.js"
import { escaped, fit, line, widthOf } from "./Escape.js"

const bytes = (base64: string): string => `${Math.floor((base64.length * 3) / 4)} bytes`

export const ofResource = (contents: ResourceContents): string =>
  "text" in contents
    ? contents.text
    : `[${contents.mimeType ?? "bytes"}, ${bytes(contents.blob)}, ${contents.uri}]`

export const ofBlock = (block: ContentBlock): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}, ${bytes(block.data)}]`
    case "resource":
      return ofResource(block.resource)
    case "resource_link":
      return `[resource ${block.uri}${block.description === undefined ? "" : `: ${block.description}`}]`
  }
}

const MAX_FIRST = 40

/** Makes a table of two columns: a name, and the first line of a text. Each row is cut to `width` columns of the terminal. */
export const table = (rows: ReadonlyArray<readonly [string, string]>, width: number): Styled => {
  const shown = rows.map(([name, text]) => [line(name), line(escaped(text).trimStart().replace(/\n[^]*/, ""))] as const)
  const first = Math.max(0, ...shown.map(([name]) => widthOf(name, MAX_FIRST)))
  return lines(shown.map(([name, text]) => [
    "  ",
    paint("cyan", name),
    text === "" ? "" : `${" ".repeat(first - widthOf(name, first) + 2)}${fit(text, Math.max(20, width - first - 4))}`
  ]))
}
