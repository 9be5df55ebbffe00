import { WorkerNotFound } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { given, type Route, route } from '../route.ts'

const { workers } = contract

export const workerRoutes: readonly Route[] = [
  route(workers.list, async (_, { millrace }) => ({ workers: await millrace.workers.list() })),

  route(workers.get, async ({ id }, { millrace }) => {
    const worker = await millrace.workers.get(id)
    if (worker === undefined) throw new WorkerNotFound(id, 'no living worker has that id.')
    return worker
  }),

  route(workers.quiet, ({ id, reason }, { millrace, by }) => millrace.workers.quiet(id, { by, reason })),
  route(workers.resume, ({ id, reason }, { millrace, by }) =>
    millrace.workers.resume(id, { by, ...given({ reason }) }),
  ),
  route(workers.stop, ({ id, reason }, { millrace, by }) => millrace.workers.stop(id, { by, reason })),
]
