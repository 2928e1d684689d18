/**
 * An HTTP server of Node that has an MCP endpoint, and how it ends: it stops listening, the endpoint ends its streams and
 * answers its calls, then no connection is left that the server would wait for.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"

export interface Running {
  readonly origin: string
  readonly close: () => Promise<void>
}

export const listen = (listener: RequestListener, dispose: () => Promise<void>): Promise<Running> =>
  new Promise((resolve) => {
    const server = createServer(listener)
    const close = () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        // Node waits for connections that have not sent a request.
        void dispose().then(() => server.closeAllConnections())
      })
    server.listen(
      0,
      "127.0.0.1",
      () => resolve({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close })
    )
  })
