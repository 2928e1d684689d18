/**
 * The official SDK, version 2, over HTTP at 2026-07-28, as its documentation shows: `createMcpHandler` with a factory, which
 * makes a server for each request. Hono's adapter mounts it on `node:http`; the SDK's own adapter costs more.
 */
import { createMcpHandler } from "@modelcontextprotocol/server"
import { makeServer } from "../subjects/sdk2.js"
import * as Start from "./Start.js"

const handler = createMcpHandler(makeServer)

export const start: Start.Start = Start.onWeb((request) => handler.fetch(request))
