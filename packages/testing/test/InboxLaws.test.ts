import { describe } from "@effect/vitest"
import type { InboxService, Mailbox } from "@effect-mcp/core/Inbox"
import * as Inbox from "@effect-mcp/core/Inbox"
import { bounded, laws, small } from "@effect-mcp/testing/InboxLaws"
import { Effect, Stream } from "effect"
import { found } from "./Faults.js"

const boxes = (change: (mailbox: Mailbox) => Partial<Mailbox>) => ({ open }: InboxService): InboxService => ({
  open: (node) => Effect.map(open(node), (mailbox) => ({ ...mailbox, ...change(mailbox) }))
})

describe("The laws of inboxes", () => {
  found(laws, Inbox.memory(), {
    "sends a text twice": [
      boxes(({ send }) => ({ send: (node, text) => Effect.zipRight(send(node, text), send(node, text)) })),
      "delivers every text one time, unchanged, in the order of its sender"
    ],
    "loses a part of a character": [
      boxes(({ received }) => ({ received: Stream.map(received, (text) => text.replace("\u{1f600}", "\ufffd")) })),
      "delivers every text one time, unchanged, in the order of its sender"
    ],
    "takes texts for nodes that are gone": [
      boxes(({ send }) => ({ send: (node, text) => Effect.ignore(send(node, text)) })),
      "fails with Gone for a node that has no open inbox"
    ],
    "loses what came before the inbox was read": [
      ({ open }) => ({
        open: (node) =>
          Effect.map(open(node), ({ received, send }) => {
            let isRead = false
            return {
              send: (to: string, text: string) => Effect.suspend(() => isRead ? send(to, text) : Effect.void),
              received: Stream.suspend(() => {
                isRead = true
                return received
              })
            }
          })
      }),
      "keeps texts that arrive before the inbox is read"
    ]
  })
})

describe("The laws of small inboxes", () => {
  const law = "fails with Full when too many texts wait, and accepts texts again after they were read"
  found(bounded, Inbox.memory(small), {
    "does not fail": [
      boxes(({ send }) => ({
        send: (node, text) => Effect.catchIf(send(node, text), ({ reason }) => reason === "Full", () => Effect.void)
      })),
      law
    ],
    "takes nothing more": [
      boxes(({ send }) => {
        let isFull = false
        return {
          send: (node, text) =>
            isFull
              ? Effect.fail(new Inbox.InboxError({ reason: "Full", message: "It was full" }))
              : Effect.tapError(send(node, text), () => Effect.sync(() => void (isFull = true)))
        }
      }),
      law
    ]
  })
})
