// Guides for operators: their commands run by the real curl, psql and millrace.
import { execFile, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { admin, nodeListener } from '@millrace/admin'
import type { Village } from './setup.ts'

const run = promisify(execFile)
const has = (program: string) => spawnSync(program, ['--version']).status === 0
const cli = fileURLToPath(new URL('../../../../packages/cli/bin/millrace.js', import.meta.url))

/** Whether this machine has what the commands of guides need. */
export const hasPrograms = has('curl') && has('psql') && has('bash')

/** The admin API on a port of its own, as `millrace dev` serves it. */
export async function serve(t: Village, { isDevelopment }: { isDevelopment: boolean }) {
  const handler = admin(t.millrace, { routes: t.village.routes ?? [], isDevelopment })
  const server = createServer(nodeListener(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** A block of shell commands. `curl` fails on a status of 400 and above. */
    async sh(block: string, env: Record<string, string> = {}): Promise<string> {
      const here = block
        .replaceAll(/https:\/\/homepage\.villagecompute\.com|http:\/\/localhost:8080/g, url)
        .replaceAll('npx millrace', `node ${cli}`)
        .replaceAll('curl ', 'curl -sS --fail-with-body ')
      const environment = { PATH: process.env.PATH ?? '', HOME: '/tmp', DATABASE_URL: t.url, ...env }
      return (await run('bash', ['-euc', here], { env: environment })).stdout
    },
    async psql(block: string): Promise<string> {
      return (await run('psql', [t.url, '-qAtX', '-v', 'ON_ERROR_STOP=1', '-c', block])).stdout.trim()
    },
    async [Symbol.asyncDispose]() {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The block of a guide that has this in it. */
export function one(list: readonly string[], part: string): string {
  const found = list.find((block) => block.includes(part))
  if (found === undefined) throw new Error(`The guide has no block with ${part}.`)
  return found
}
