// The program of a child process. It does what it is told and leaves when nobody is there to tell it anything.
import { startTelemetry } from '@millrace/telemetry'
import { createMillrace, type Millrace } from 'millrace'
import type { Answer, Call } from './child.ts'
import { drainRaw, insertRaw } from './raw-in-child.ts'
import { enqueueSpaced, type SpacedPlan, timed } from './spaced-jobs.ts'
import { enqueueAll, trivial } from './trivial-jobs.ts'
import { handledByWorker, startWorker, stopWorker } from './worker-in-child.ts'

const clients = new Map<string, Millrace>()

/** One client per database for as long as the process lives. */
function clientOf(databaseUrl: string): Millrace {
  let client = clients.get(databaseUrl)
  if (client === undefined) {
    client = createMillrace({ database: databaseUrl, jobs: [timed] })
    clients.set(databaseUrl, client)
  }
  return client
}

const api = {
  enqueueSpaced: ({ databaseUrl, ...plan }: SpacedPlan & { databaseUrl: string }) =>
    enqueueSpaced(clientOf(databaseUrl), databaseUrl, plan),
  enqueueTrivial: async ({ databaseUrl, jobs }: { databaseUrl: string; jobs: number }) => {
    await using client = createMillrace({ database: databaseUrl, jobs: [trivial] })
    await enqueueAll(client, jobs, 1_000)
  },
  insertRaw,
  drainRaw,
  startWorker,
  stopWorker,
  handledByWorker,
  /** Installs an SDK for as long as the process lives. What is kept is decided by the enqueues. */
  startTracing: ({ endpoint }: { endpoint: string }) => void startTelemetry({ endpoint }),
  /** Processor time of all threads of this process so far. */
  cpuUs: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
}

export type ChildApi = typeof api

process.on('message', async ({ id, name, argument }: Call) => {
  const answer = async (): Promise<Answer> => {
    try {
      return { id, result: await (api[name as keyof ChildApi] as (argument: unknown) => unknown)(argument) }
    } catch (error) {
      return { id, error: (error as Error).stack ?? String(error) }
    }
  }
  process.send?.(await answer())
})

process.once('disconnect', async () => {
  await Promise.all([stopWorker(), ...[...clients.values()].map((client) => client.close())])
  process.exit(0)
})
