#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/main.js', import.meta.url)
if (!existsSync(program)) {
  process.stderr.write(`error: millrace is not built: ${program.pathname} is missing. Run \`npm run build\` first.\n`)
  process.exit(1)
}
const { main } = await import('../dist/main.js')
await main()
