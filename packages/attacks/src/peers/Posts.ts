/**
 * Many POSTs without a session at the same time, each on a connection of its own: handshakes, calls, cancels and streams of changes.
 * `Floods` and `Modern` have the same messages on one pipe.
 */
import { grows } from "../Growth.js"
import { envelope, modern, modernCall, notification, type PeerAttack, range, request } from "./Peer.js"

const posts = (
  name: string,
  count: number,
  message: (n: number) => string,
  more: Partial<PeerAttack> = {}
): PeerAttack =>
  grows(count, (size) => ({
    name: `${count} POSTs at once: ${name}`,
    version: "none",
    over: ["modern"],
    send: () => [...range(size).map(message), modern("last", "server/discover")],
    expect: Object.fromEntries([...range(size).map(String), "last"].map((id) => [id, "answer"])),
    ...more
  }))

const unanswered = { expect: { last: "result" } } as const

export const attacks: ReadonlyArray<PeerAttack> = [
  posts("a handshake", 800, (n) =>
    request(n, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "client", version: "1" }
    })),
  posts("server/discover", 800, (n) => modern(n, "server/discover")),
  posts("a call", 800, (n) => modernCall(n, "echo", { arguments: { text: "a" } })),
  posts(
    "a cancel",
    800,
    (n) => notification("notifications/cancelled", { requestId: n, _meta: envelope() }),
    unanswered
  ),
  posts(
    "a stream of changes",
    400,
    (n) => modern(n, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
    unanswered
  ),
  posts("a call that never ends", 400, (n) => modernCall(n, "wait"), unanswered)
]
