/**
 * A server over stdio, in a process of its own, and one client that writes lines and reads answers. The processor time is that of the
 * server's process.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { check, type Subject } from "../Workload.js"

interface Answer {
  readonly id?: number
  readonly result?: { readonly structuredContent?: { readonly sum?: unknown } }
}

export const start = async (server: string): Promise<Subject> => {
  const child = fork(fileURLToPath(new URL("../stdio.js", import.meta.url)), [server], {
    stdio: ["pipe", "pipe", "inherit", "ipc"]
  })
  const used = async (): Promise<number> => {
    const answer = once(child, "message")
    child.send({})
    const [usage] = await answer as [{ readonly microseconds: number }]
    return usage.microseconds
  }
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer
    const take = answer.id === undefined ? undefined : waiting.get(answer.id)
    if (take === undefined) return
    waiting.delete(answer.id!)
    take(answer)
  })
  let lastId = 0
  const ask = (method: string, params: object): Promise<Answer> =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    })
  await once(child, "message")
  if (server !== "node") {
    const clientInfo = { name: "bench", version: "1.0.0" }
    await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`)
  }
  return {
    run: async (calls, inFlight) => {
      let next = 1
      await Promise.all(Array.from({ length: inFlight }, async () => {
        while (next <= calls) {
          const a = next++
          const { result } = await ask("tools/call", { name: "add", arguments: { a, b: 1 } })
          check(result?.structuredContent?.sum, a, 1)
        }
      }))
    },
    used,
    close: () => {
      child.disconnect()
      return Promise.resolve()
    }
  }
}
