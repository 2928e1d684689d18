/**
 * A hostile server as a process: `node program.js stdio <name>`, or `http` for a server that plays the attack that the path
 * names. It reports its port to the process that forked it.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { attacks } from "./Attacks.js"
import { answers } from "./Server.js"

const [transport, wanted] = process.argv.slice(2)

const find = (name: string | undefined) => attacks.find((attack) => attack.name === name)!

if (transport === "stdio") {
  const attack = find(wanted)
  process.stdout.on("error", () => {})
  for (const text of attack.first ?? []) process.stdout.write(text + "\n")
  createInterface({ input: process.stdin }).on("line", (line) => {
    const texts = answers(attack, line)
    if (texts.length > 0) process.stdout.write(texts.join("\n") + "\n")
  }).on("close", () => process.exit(0))
} else {
  const server = createServer((request, response) => {
    const attack = find(decodeURIComponent(request.url!.slice(1)))
    let body = ""
    if (request.method !== "POST") return void response.writeHead(405).end()
    request.setEncoding("utf8").on("data", (chunk: string) => body += chunk)
    request.on("end", () => {
      if (!body.includes("\"id\":") || !body.includes("\"method\":")) return void response.writeHead(202).end()
      const texts = answers(attack, body)
      const headers = { "mcp-session-id": "hostile" }
      if (texts.length === 1) {
        response.writeHead(200, { ...headers, "content-type": "application/json" }).end(texts[0])
      } else {
        response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
        response.end(texts.map((text) => `data: ${text}\n\n`).join(""))
      }
    })
  })
  server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }))
}
