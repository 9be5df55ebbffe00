// LIPAS on a port of this machine with the sample municipality, a worker and its sandbox in this process, as a browser meets it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { admin, nodeListener } from '@millrace/admin'
import { type LipasSetup, setup } from './lipas.ts'

export interface ServedSetup extends LipasSetup {
  /** Default: one runs. */
  readonly hasWorker?: boolean
}

/** While there is no token, whoever comes from this machine may do everything, as under `millrace dev`. */
export async function served({ hasWorker = true, ...options }: ServedSetup = {}) {
  const t = await setup({ hasSampleData: true, ...options })
  const { routes = [], pages = [] } = t.workload
  const handler = admin(t.millrace, { routes, pages, isDevelopment: true })
  const listener = nodeListener(handler)
  const server = createServer((request, response) => {
    listener(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  if (hasWorker) await t.work({ pollInterval: '250ms' })
  return {
    ...t,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await t[Symbol.asyncDispose]()
    },
  }
}

export type Served = Awaited<ReturnType<typeof served>>
