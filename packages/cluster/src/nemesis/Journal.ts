/**
 * The file where a node writes down what it has done: one entry of the history on each line. Each line is in the file before the node goes
 * on. So when the process is killed, only the line is missing that the process was writing.
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
