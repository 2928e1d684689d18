/**
 * An extension as a value, which the server and the client of this example share: jobs that render something. It has a request
 * in each direction, a notification in each direction, a type of results, and settings of both sides.
 */
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { Schema } from "effect"

const Job = Schema.Struct({ jobId: Schema.String, text: Schema.optional(Schema.String) })

export const Jobs = Extension.make("com.example/jobs", {
  settings: {
    client: Schema.Struct({ language: Schema.String }),
    server: Schema.Struct({ maxJobs: Schema.Int })
  },
  requests: {
    get: Extension.request("jobs/get", {
      params: Schema.Struct({ jobId: Schema.String }),
      result: Job,
      nameParameter: "jobId" // the HTTP header Mcp-Name repeats it
    }),
    // The server sends it, up to 2025-11-25.
    approve: Extension.request("jobs/approve", {
      from: "server",
      params: Schema.Struct({ jobId: Schema.String }),
      result: Schema.Struct({ approved: Schema.Boolean })
    })
  },
  notifications: {
    changed: Extension.notification("notifications/jobs/changed", {
      params: Job,
      filter: "jobIds", // clients subscribe to it by this member of the filter
      key: ({ jobId }) => jobId
    }),
    seen: Extension.notification("notifications/jobs/seen", {
      from: "client",
      params: Schema.Struct({ jobId: Schema.String })
    })
  },
  results: {
    job: Extension.resultType("job", { method: "tools/call", value: Job })
  }
})
