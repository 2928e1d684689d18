/**
 * A server over stdio, in a process of its own, and one client that writes lines and reads answers. Only the processor time of the server's
 * process counts.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as Raw from "../Raw.js"
import { offered, type Subject } from "../Workload.js"

const open = async (server: string) => {
  const child = fork(fileURLToPath(new URL("../stdio.js", import.meta.url)), [server], {
    stdio: ["pipe", "pipe", "inherit", "ipc"]
  })
  const used = async (): Promise<number> => {
    const answer = once(child, "message")
    child.send({})
    const [usage] = await answer as [{ readonly microseconds: number }]
    return usage.microseconds
  }
  const raw = Raw.make((message) => child.stdin!.write(`${JSON.stringify(message)}\n`))
  createInterface({ input: child.stdout! }).on("line", (line) => raw.receive(JSON.parse(line)))
  await once(child, "message")
  await raw.begin()
  return {
    raw,
    used,
    close: () => {
      child.disconnect()
      return Promise.resolve()
    }
  }
}

export const start = async (server: string): Promise<Subject> => {
  const { raw, ...rest } = await open(server)
  return { run: raw.run, ...rest }
}

export const progress = async (server: string): Promise<Subject> => {
  const { raw, ...rest } = await open(server)
  return { ...raw.reports, ...rest }
}

export const list = async (server: string): Promise<Subject> => {
  const { raw, ...rest } = await open(server)
  return { run: raw.lists(offered.length), ...rest }
}
