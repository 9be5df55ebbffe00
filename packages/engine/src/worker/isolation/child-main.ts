// The process of an isolated handler: loads one module, and runs its default export for one job after the other.
//
// It never outlives its worker. When the channel to it closes, the process ends itself and its whole group at once; if
// its event loop is blocked just then, a thread does (child-watchdog.ts). Signals that are meant for a whole service
// are left to the worker, which decides what becomes of the run.
import { Worker as Thread } from 'node:worker_threads'
import { context } from '@opentelemetry/api'
import type { PreparedJob } from '../../client/enqueue-options.ts'
import type { EnqueueResult } from '../../client/enqueuer.ts'
import { InvalidResult } from '../../errors.ts'
import { runContext } from '../../run-context.ts'
import { receivedConnection } from '../../store/connection-config.ts'
import { Database } from '../../store/db.ts'
import type { Settlement } from '../../store/settlements.ts'
import { contextBelow } from '../../tracing.ts'
import type { JobContext } from '../context.ts'
import type { BudgetCall } from './budget-call.ts'
import { ChildRun } from './child-run.ts'
import { decodeThrown, demandSendable, encodeThrown, encodeValue, type SentEnding, withoutFields } from './encoding.ts'
import type { DoorStep, FromChild, RunRequest, SentRecord, SentService, ToChild } from './protocol.ts'

type UnknownHandler = (payload: unknown, ctx: JobContext) => unknown

const STOP_MS = 500

const [, , type = '', workerPid] = process.argv
let handler: UnknownHandler
let db: Database
let tenantRole: string | undefined
let current: ChildRun | undefined

const asks = new Map<number, { resolve: (answer: unknown) => void; reject: (error: unknown) => void }>()
let lastAsk = 0

function send(message: FromChild): void {
  process.send?.(message, () => {})
}

function endGroup(): void {
  process.kill(-process.pid, 'SIGKILL')
}

async function receive(message: ToChild): Promise<void> {
  switch (message.kind) {
    case 'start':
      db = new Database({
        connection: receivedConnection(message.connection, askPassword),
        schema: message.schema,
        maxConnections: 1,
      })
      tenantRole = message.tenantRole
      await load(message.module)
      break
    case 'run':
      await perform(message.request)
      break
    case 'abort':
      current?.abort(decodeThrown(message.reason))
      break
    case 'answer':
      asks.get(message.ask)?.resolve(message.value)
      asks.delete(message.ask)
      break
    case 'refused':
      asks.get(message.ask)?.reject(decodeThrown(message.error))
      asks.delete(message.ask)
      break
    case 'stop':
      await db.close(STOP_MS)
      process.exit(0)
  }
}

async function load(module: string): Promise<void> {
  try {
    const { default: exported } = (await import(module)) as { default?: unknown }
    if (typeof exported !== 'function') return send({ kind: 'unusable', problem: 'has no function as default export' })
    handler = exported as UnknownHandler
    send({ kind: 'ready' })
  } catch (error) {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error)
    send({ kind: 'unusable', problem: `cannot be loaded (${problem})` })
  }
}

async function perform(request: RunRequest): Promise<void> {
  const { runId, jobId, correlationId, traceParent } = request.facts
  const run = new ChildRun(request, {
    db,
    tenantRole,
    tell: send,
    settlementOf,
    askBudget,
    askEnqueue,
    askVault,
    askBreaker,
  })
  current = run
  let ending: SentEnding
  try {
    const call = () =>
      runContext.run({ jobId, correlationId, traceParent }, () => handler(request.payload, run.context()))
    // An SDK that the handler's module has installed puts its spans below the worker's.
    const value = await context.with(contextBelow(traceParent), call)
    ending = { value: encodeValue(value) }
  } catch (error) {
    ending = { thrown: encodeThrown(error) }
  }
  run.end()
  current = undefined
  try {
    demandSendable(ending)
  } catch (error) {
    // The fields of an error were sent one by one if they could be; together they may be too much.
    ending = { thrown: 'thrown' in ending ? withoutFields(ending.thrown) : encodeThrown(unsendable(error)) }
  }
  send({ kind: 'ended', runId, ending })
}

/** Sends a question to the worker and waits for its answer. Throws what cannot be sent. */
async function answerTo(question: (ask: number) => FromChild): Promise<unknown> {
  const ask = ++lastAsk
  const message = question(ask)
  demandSendable(message)
  return new Promise((resolve, reject) => {
    asks.set(ask, { resolve, reject })
    send(message)
  })
}

async function settlementOf(runId: string, value: unknown): Promise<Settlement> {
  const encoded = encodeValue(value)
  try {
    demandSendable(encoded)
  } catch (error) {
    throw unsendable(error)
  }
  return (await answerTo((ask) => ({ kind: 'settlement-of', runId, ask, value: encoded }))) as Settlement
}

async function askPassword(): Promise<string> {
  return (await answerTo((ask) => ({ kind: 'password', ask }))) as string
}

function askBudget(runId: string, call: BudgetCall): Promise<unknown> {
  return answerTo((ask) => ({ kind: 'budget', runId, ask, call }))
}

async function askEnqueue(runId: string, prepared: PreparedJob): Promise<EnqueueResult> {
  return (await answerTo((ask) => ({ kind: 'enqueue', runId, ask, prepared }))) as EnqueueResult
}

async function askVault(runId: string, kind: 'seal' | 'open', record: SentRecord): Promise<string> {
  return (await answerTo((ask) => ({ kind, runId, ask, ...record }))) as string
}

async function askBreaker(runId: string, service: SentService, step: DoorStep): Promise<void> {
  await answerTo((ask) => ({ kind: 'breaker', runId, ask, service, step }))
}

const unsendable = (error: unknown): InvalidResult =>
  new InvalidResult(type, `it cannot be sent to the worker (${(error as Error).message})`)

new Thread(new URL('./child-watchdog.js', import.meta.url), {
  workerData: { workerPid: Number(workerPid) },
  execArgv: [],
  name: 'millrace-watchdog',
}).unref()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('uncaughtExceptionMonitor', (error) => send({ kind: 'uncaught', error: encodeThrown(error) }))
process.on('disconnect', endGroup)
if (!process.connected) endGroup()
process.on('message', (message) => void receive(message as ToChild))
