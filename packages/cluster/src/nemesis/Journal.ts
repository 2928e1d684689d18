/**
 * The journal of a node: a file in which the node writes its entries of the history, one entry on each line. The node continues only after
 * the line is in the file. So when the process is killed, at most the line that the process was writing is missing.
 */
import { openSync, readFileSync, writeSync } from "node:fs"
import type { Entry } from "./History.js"

export type Write = (entry: Entry) => void

export const open = (path: string): Write => {
  const file = openSync(path, "a")
  return (entry) => void writeSync(file, `${JSON.stringify(entry)}\n`)
}

export const read = (path: string): ReadonlyArray<Entry> =>
  readFileSync(path, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line) as Entry)
