// The producer process: enqueues what it is asked to over IPC and answers with what became of it.
import { createMillrace, type EnqueueResult } from 'millrace'
import pg from 'pg'
import { itemOf } from './corpus.ts'
import { recorder } from './history.ts'
import { allContracts, contracts, type Task, type TaskType } from './tasks.ts'

interface ProducerSettings {
  label: string
  engineUrl: string
  /** For the callers' own transactions. */
  serverUrl: string
  historyFile: string
}

export interface EnqueueOrder {
  tasks: Task[]
  type?: TaskType
  priority?: number
  delayMs?: number
  tenant?: string
  /**
   * each: one enqueue per task, all at once. many: one enqueueMany.
   * commit, rollback: all of them in one transaction of the caller, held open for `holdMs` before it ends that way.
   */
  how: 'each' | 'many' | 'commit' | 'rollback'
  holdMs?: number
}

export type Answer =
  | { status: EnqueueResult['status']; id: string }
  | { status: 'failed'; code: string; message: string }

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as ProducerSettings
const record = recorder(settings.historyFile, settings.label)
process.on('disconnect', () => process.exit(1))

const callers = new pg.Pool({ connectionString: settings.serverUrl, max: 60, connectionTimeoutMillis: 10_000 })
callers.on('error', () => {})
const millrace = createMillrace({ database: settings.engineUrl, jobs: allContracts })

process.on('message', async ({ token, order }: { token: number; order: EnqueueOrder }) => {
  const answers = await execute(order)
  if (order.how !== 'rollback')
    order.tasks.forEach((task, i) => {
      tell(task.n, answers[i] as Answer)
    })
  process.send?.({ token, answers })
})

async function execute(order: EnqueueOrder): Promise<Answer[]> {
  const contract = contracts[order.type ?? 'task']
  const payloads = order.tasks.map(payloadOf)
  const options = {
    ...(order.priority === undefined ? {} : { priority: order.priority }),
    ...(order.delayMs === undefined ? {} : { delay: order.delayMs }),
    ...(order.tenant === undefined ? {} : { tenant: order.tenant }),
  }
  switch (order.how) {
    case 'each':
      return Promise.all(payloads.map((each) => answer(millrace.enqueue(contract, each, options))))
    case 'many': {
      const answers = await answerAll(millrace.enqueueMany(contract, payloads, options))
      return 'status' in answers ? order.tasks.map(() => answers) : answers
    }
    case 'commit':
    case 'rollback':
      return inTransaction(order, (tx, i) => millrace.enqueue(contract, payloads[i] as Task, { ...options, tx }))
  }
}

const payloadOf = (task: Task): Task =>
  task.carries === undefined ? task : { ...task, value: itemOf(task.carries).make() }

async function inTransaction(
  order: EnqueueOrder,
  enqueue: (tx: pg.PoolClient, i: number) => Promise<EnqueueResult>,
): Promise<Answer[]> {
  const client = await callers.connect()
  try {
    await client.query('begin')
    const answers: Answer[] = []
    for (const i of order.tasks.keys()) answers.push(await answer(enqueue(client, i)))
    if (order.holdMs) await new Promise((resolve) => setTimeout(resolve, order.holdMs))
    await client.query(order.how)
    return answers
  } finally {
    client.release()
  }
}

async function answer(result: Promise<EnqueueResult>): Promise<Answer> {
  return result.then(({ status, id }) => ({ status, id }), failure)
}

async function answerAll(results: Promise<EnqueueResult[]>): Promise<Answer[] | Answer> {
  return results.then((list) => list.map(({ status, id }) => ({ status, id })), failure)
}

function failure(error: unknown): Answer {
  const { code, message } = error as { code?: string; message: string }
  return { status: 'failed', code: code ?? 'none', message }
}

function tell(n: string, result: Answer): void {
  if (result.status === 'queued') record({ what: 'acknowledged', n, id: result.id })
  else if (result.status === 'failed') {
    record({ what: result.code === 'enqueue_unknown' ? 'unknown' : 'refused', n, why: result.message })
  }
}
