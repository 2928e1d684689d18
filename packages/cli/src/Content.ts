/**
 * Content of results as text for a terminal: texts as they are, what is not text as one line that says what it is. `--out`
 * writes the bytes of images, audio and blobs to files.
 */
import type { ContentBlock, ResourceContents } from "@effect-mcp/protocol/Content"
import type { OutputService } from "./Output.js"
import { plain } from "./Output.js"

const bytes = (base64: string): string => `${Math.floor((base64.length * 3) / 4)} bytes`

export const ofResource = (contents: ResourceContents): string =>
  "text" in contents
    ? plain(contents.text)
    : `[${contents.mimeType ?? "bytes"}, ${bytes(contents.blob)}, ${plain(contents.uri)}]`

export const ofBlock = (block: ContentBlock): string => {
  switch (block.type) {
    case "text":
      return plain(block.text)
    case "image":
    case "audio":
      return `[${block.type} ${plain(block.mimeType)}, ${bytes(block.data)}]`
    case "resource":
      return ofResource(block.resource)
    case "resource_link":
      return `[resource ${plain(block.uri)}${block.description === undefined ? "" : `: ${plain(block.description)}`}]`
  }
}

/** JSON with indentation, for values that have no text of their own. */
export const ofJson = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** Rows in columns, the last of which is cut to the width of the terminal. */
export const table = (
  rows: ReadonlyArray<readonly [string, string]>,
  { paint, width }: Pick<OutputService, "paint" | "width">
): string => {
  const first = Math.min(40, Math.max(0, ...rows.map(([name]) => name.length)))
  return rows.map(([name, text]) => {
    const [line = ""] = plain(text).split("\n")
    const room = Math.max(20, width - first - 4)
    const about = line.length > room ? `${line.slice(0, room - 1)}…` : line
    return `  ${paint("cyan", name.padEnd(first))}  ${about}`.trimEnd()
  }).join("\n")
}
