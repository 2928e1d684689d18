/**
 * `node:http` alone, the floor of what an HTTP server can cost: it reads the body, parses it, and answers with the same JSON
 * as the other servers at 2026-07-28. It checks nothing.
 */
import * as Start from "./Start.js"

interface Call {
  readonly id: number
  readonly params: { readonly arguments: { readonly a: number; readonly b: number } }
}

const answer = ({ id, params }: Call): unknown => {
  const structuredContent = { sum: params.arguments.a + params.arguments.b }
  return {
    jsonrpc: "2.0",
    id,
    result: {
      content: [{ type: "text", text: JSON.stringify(structuredContent) }],
      structuredContent,
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "bench", version: "1.0.0" } }
    }
  }
}

export const start: Start.Start = Start.onNode((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call))
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
    response.end(body)
  })
})
