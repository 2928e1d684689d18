/**
 * How the servers in this folder start: each serves the tool "add" at one URL, and listens on a port that the system
 * chooses. `served.ts` starts each server in a process of its own.
 */
import { getRequestListener } from "@hono/node-server"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

/** Starts a server; `onListening` gets the URL of its endpoint. */
export type Start = (onListening: (url: string) => void) => void

export const urlOf = (port: number): string => `http://127.0.0.1:${port}/mcp`

/** A server on `node:http`. */
export const onNode = (listener: RequestListener): Start => (onListening) => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1", () => onListening(urlOf((server.address() as AddressInfo).port)))
}

/** A function of web requests on `node:http`, by Hono's adapter. */
export const onWeb = (handler: (request: Request) => Promise<Response>): Start => {
  const listener = getRequestListener((request) => handler(request))
  return onNode((request, response) => void listener(request, response))
}
