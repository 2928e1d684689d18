import { inOneProcess } from "./Nodes.js"
import { over } from "./Suite.js"

over(inOneProcess)
