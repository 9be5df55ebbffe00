// A whole system as the browser meets it: the admin server on a real port, and a worker that runs the demo's jobs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AdminOptions, admin, nodeListener } from '@millrace/admin'
import { demoWorkload, handlersAt } from '@millrace/demo'
import { createMillrace, type Logger, type Millrace } from 'millrace'
import { experiment, labHandlers } from './lab.ts'

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const { schedules, workflows } = demoWorkload
const jobs = [...demoWorkload.jobs, experiment]

export interface SystemOptions extends AdminOptions {
  /** How long the demo's runs take, as a share of the usual. Default 0.02: tests do not wait for them. Null: no worker. */
  readonly pace?: number | null
}

export interface System {
  /** Without a slash at its end; with the base path. */
  readonly url: string
  close(): Promise<void>
}

/** For tests that prepare things of their own: `await using millrace = clientOf(inject('systemDatabase'))`. */
export const clientOf = (databaseUrl: string): Millrace =>
  createMillrace({ database: databaseUrl, jobs, schedules, workflows, logger: silent })

export async function startSystem(databaseUrl: string, options: SystemOptions = {}): Promise<System> {
  const { pace = 0.02, ...adminOptions } = options
  const millrace = clientOf(databaseUrl)
  const worker =
    pace !== null && (await millrace.work({ handlers: [...handlersAt(pace), ...labHandlers], gracePeriod: '1s' }))
  const handler = admin(millrace, { environment: 'staging', ...adminOptions })
  const listener = nodeListener(handler)
  const server = createServer((request, response) => {
    listener(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${options.basePath ?? ''}`,
    async close() {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (worker) await worker.stop()
      await millrace.close()
    },
  }
}
