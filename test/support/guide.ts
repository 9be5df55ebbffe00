// Guides for operators: their commands run by the real curl, psql and millrace.
import { execFile, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { admin, nodeListener, type Route } from '@millrace/admin'
import type { Millrace } from 'millrace'

const run = promisify(execFile)
const has = (program: string) => spawnSync(program, ['--version']).status === 0
const cli = fileURLToPath(new URL('../../packages/cli/bin/millrace.js', import.meta.url))

/** Whether this machine has what the commands of guides need. */
export const hasPrograms = has('curl') && has('psql') && has('bash')

export interface Served {
  readonly millrace: Millrace
  /** Of its database. */
  readonly url: string
  readonly routes?: readonly Route[]
  /** Without tokens, as under `millrace dev`. */
  readonly isDevelopment: boolean
  /** Of the shell, such as the search path of psql. */
  readonly env?: Readonly<Record<string, string>>
}

/** The admin API on a port of its own, as `millrace dev` serves it. */
export async function serve({ millrace, url: database, routes = [], isDevelopment, env = {} }: Served) {
  const handler = admin(millrace, { routes, isDevelopment })
  const server = createServer(nodeListener(handler))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const environment = { PATH: process.env.PATH ?? '', HOME: '/tmp', DATABASE_URL: database, ...env }
  return {
    url,
    /** A block of shell commands. `curl` fails on a status of 400 and above. */
    async sh(block: string, more: Record<string, string> = {}): Promise<string> {
      const here = block
        .replaceAll(/https:\/\/homepage\.villagecompute\.com|http:\/\/localhost:8080/g, url)
        .replaceAll('npx millrace', `node ${cli}`)
        .replaceAll('curl ', 'curl -sS --fail-with-body ')
      return (await run('bash', ['-euc', here], { env: { ...environment, ...more } })).stdout
    },
    async psql(block: string): Promise<string> {
      const args = [database, '-qAtX', '-v', 'ON_ERROR_STOP=1', '-c', block]
      return (await run('psql', args, { env: environment })).stdout.trim()
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
