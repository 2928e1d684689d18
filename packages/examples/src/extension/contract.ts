/**
 * An extension as a value, which the server and the client of this example share: a tool answers at once with a job, and the
 * client reads the result of the job later.
 */
import { Extension } from "@effect-mcp/protocol"
import { Schema } from "effect"

const Job = Schema.Struct({ jobId: Schema.String, text: Schema.optional(Schema.String) })

export const Jobs = Extension.make("com.example/jobs", {
  settings: { server: Schema.Struct({ maxJobs: Schema.Int }) },
  requests: {
    get: Extension.request("jobs/get", {
      params: Schema.Struct({ jobId: Schema.String }),
      result: Job,
      nameParameter: "jobId" // the HTTP header Mcp-Name repeats it
    })
  },
  notifications: {
    changed: Extension.notification("notifications/jobs/changed", {
      params: Job,
      filter: "jobIds", // clients subscribe to it by this member of the filter
      key: ({ jobId }) => jobId
    })
  },
  results: {
    job: Extension.resultType("job", { method: "tools/call", value: Job })
  }
})
