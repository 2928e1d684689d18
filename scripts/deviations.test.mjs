import assert from "node:assert/strict"
import { test } from "node:test"
import { deviationsOf, exampleOf, readTable } from "./pages/deviations.mjs"

const row = { id: "a", method: "ping", deviation: "sends `a | b`", does: "answers", message: { id: "$id" } }

test("the page has a row for each row of the table, and cells that Markdown does not cut", async () => {
  const table = await readTable()
  const rows = deviationsOf(table).split("\n").filter((line) => line.startsWith("| `"))
  assert.equal(rows.length, table.clients.length + table.servers.length)
  for (const line of rows) assert.equal(line.match(/(?<!\\)\|/g).length, 7, line)
})

test("an example is short, on one line, and shows what deviates", () => {
  assert.equal(exampleOf({ ...row, message: { jsonrpc: "2.0", id: "$id", method: "ping", params: null } }), "null")
  assert.equal(exampleOf({ ...row, http: { headers: { accept: null } } }), "POST /mcp, no accept")
  const page = deviationsOf({
    clients: [{ ...row, message: `\uFEFF\n${"x".repeat(500)}` }],
    servers: [],
    pipes: [],
    urls: {}
  })
  assert.match(page, /`\\ufeff\\nx{102}…`/)
})
