/**
 * One client alone: the server is `node:http` or a reader of lines without checks, in a process of its own, and the processor time is that
 * of the client. The floor over HTTP is the platform's `HttpClient`, over stdio a reader of lines: both write the same request and parse
 * the answer.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Client from "@effect-mcp/core/Client"
import type * as Connector from "@effect-mcp/core/Connector"
import * as Remote from "@effect-mcp/core/Remote"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Client as Sdk2Client, StreamableHTTPClientTransport as Sdk2Http } from "@modelcontextprotocol/client"
import { StdioClientTransport as Sdk2Stdio } from "@modelcontextprotocol/client/stdio"
import { Client as Sdk1Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as Sdk1Stdio } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as Sdk1Http } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect, Layer, ManagedRuntime } from "effect"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { calling, checkResult, isRecord, type Subject } from "../Workload.js"
import * as Stdio from "./stdio.js"

const program = { command: process.execPath, args: [fileURLToPath(new URL("../stdio.js", import.meta.url)), "node"] }

/** The server over HTTP, which ends with this process. */
const serve = (): Promise<string> => {
  const child = fork(fileURLToPath(new URL("../served.js", import.meta.url)), ["node"])
  return new Promise((resolve) =>
    child.once("message", (message) => resolve((message as { readonly url: string }).url))
  )
}

const own = async (connector: Connector.Connector<HttpClient.HttpClient>): Promise<Subject> => {
  const options = { checkOutputs: false, versions: ["2025-11-25"] } as const
  const runtime = ManagedRuntime.make(
    Layer.provide(Client.layer(connector, options), NodeHttpClient.layerUndici)
  )
  const client = await runtime.runPromise(Client.Client)
  return {
    run: (calls, inFlight) =>
      runtime.runPromise(Effect.forEach(
        Array.from({ length: calls }, (_, i) => i + 1),
        (a) => Effect.map(client.callTool("add", { a, b: 1 }), (result) => checkResult(result, a, 1)),
        { concurrency: inFlight, discard: true }
      )),
    close: () => runtime.dispose()
  }
}

const sdk1 = async (transport: Sdk1Http | Sdk1Stdio): Promise<Subject> => {
  const client = new Sdk1Client(info)
  await client.connect(transport as never)
  return calling(client)
}

const sdk2 = async (transport: Sdk2Http | Sdk2Stdio): Promise<Subject> => {
  const client = new Sdk2Client(info)
  await client.connect(transport)
  return calling(client)
}

const info = { name: "bench", version: "1.0.0" }

const platform = async (url: string): Promise<Subject> => {
  const runtime = ManagedRuntime.make(NodeHttpClient.layerUndici)
  const client = await runtime.runPromise(HttpClient.HttpClient)
  const call = (a: number) =>
    HttpClientRequest.post(url, {
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" }
    }).pipe(
      HttpClientRequest.bodyText(
        JSON.stringify({
          jsonrpc: "2.0",
          id: a,
          method: "tools/call",
          params: { name: "add", arguments: { a, b: 1 } }
        }),
        "application/json"
      ),
      client.execute,
      Effect.flatMap((response) => response.json),
      Effect.map((answer) => checkResult(isRecord(answer) ? answer.result : undefined, a, 1))
    )
  return {
    run: (calls, inFlight) =>
      runtime.runPromise(
        Effect.forEach(Array.from({ length: calls }, (_, i) => i + 1), call, { concurrency: inFlight, discard: true })
      ),
    close: () => runtime.dispose()
  }
}

export const overHttp: Readonly<Record<string, () => Promise<Subject>>> = {
  own: async () => own(Remote.connector(await serve())),
  sdk1: async () => sdk1(new Sdk1Http(new URL(await serve()))),
  sdk2: async () => sdk2(new Sdk2Http(new URL(await serve()))),
  platform: async () => platform(await serve())
}

export const overStdio: Readonly<Record<string, () => Promise<Subject>>> = {
  own: () => own(StdioClient.connector(program)),
  sdk1: () => sdk1(new Sdk1Stdio(program)),
  sdk2: () => sdk2(new Sdk2Stdio(program)),
  lines: async () => {
    const { close, run } = await Stdio.start("node")
    return { close, run }
  }
}
