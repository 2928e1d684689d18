import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Layer } from "effect"
import { Server } from "./server.js"

StdioServer.layer.pipe(Layer.provide(Server), Layer.launch, StdioServer.runMain)
