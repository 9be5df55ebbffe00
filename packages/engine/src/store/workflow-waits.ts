// Steps of workflows that wait for a signal or for a time, and the signals.
import type { Now } from '../clock.ts'
import type { Session } from './db.ts'

export interface NewSignal {
  workflowId: string
  name: string
  /** JSON text. */
  payload: string | null
  key: string | null
  sentBy: string
}

export async function workflowSignalWrite(session: Session, now: Now, signal: NewSignal): Promise<void> {
  const { workflowId, name, payload, key, sentBy } = signal
  await session.run('workflowSignalWrite', [now, workflowId, name, payload, key, sentBy])
}

export interface WorkflowSignal {
  name: string
  key: string | null
  payload: unknown
}

export function workflowSignalList(session: Session, workflowId: string): Promise<WorkflowSignal[]> {
  return session.run('workflowSignalList', [workflowId])
}

export interface BegunWait {
  /** 0 or less: the time has come. Null: it waits as long as it takes. */
  dueInMs: number | null
  hasSignal: boolean
}

export async function workflowWaitBegin(
  session: Session,
  now: Now,
  wait: { workflowId: string; position: number; delayMs: number | null; at: Date | null },
): Promise<BegunWait> {
  const { workflowId, position, delayMs, at } = wait
  const [row] = await session.run<BegunWait>('workflowWaitBegin', [now, workflowId, position, delayMs, at])
  return row as BegunWait
}

/** Steps that have what they wait for: a signal, or else their time has come. */
export function workflowWaitList(
  session: Session,
  now: Now,
  workflowId: string,
): Promise<{ position: number; hasSignal: boolean }[]> {
  return session.run('workflowWaitList', [now, workflowId])
}
