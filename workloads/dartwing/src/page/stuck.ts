// Jobs that run beyond their time, and what became of those that ran for twice as long.
import type { Job, Millrace } from 'millrace'

export interface Stuck {
  readonly job: string
  readonly method: string
  readonly organization: string | null
  /** Until it is dead; null: it is. */
  readonly secondsLeft: number | null
  readonly letter: string | null
}

const LETTERS = 3
const DEFAULT_TIMEOUT_MS = 300_000

export async function stuckOf(
  millrace: Millrace,
  running: readonly Job[],
  maySee: (organization: string | null) => boolean,
  nowMs = Date.now(),
): Promise<Stuck[]> {
  const timeouts = new Map(millrace.contracts().map(({ type, timeoutMs }) => [type, timeoutMs ?? DEFAULT_TIMEOUT_MS]))
  const late = running.flatMap(({ id, type, tenant, startedAt }): Stuck[] => {
    const timeoutMs = timeouts.get(type) ?? DEFAULT_TIMEOUT_MS
    const ranMs = startedAt === null ? 0 : nowMs - startedAt.getTime()
    if (ranMs <= timeoutMs || !maySee(tenant)) return []
    const secondsLeft = Math.max(0, Math.round((2 * timeoutMs - ranMs) / 1_000))
    return [{ job: id, method: type, organization: tenant, secondsLeft, letter: null }]
  })
  const letters = await millrace.deadLetters.list({ reason: 'stuck', status: 'pending', limit: 50 })
  const killed = letters
    .filter(({ tenant }) => maySee(tenant))
    .slice(0, LETTERS)
    .map(
      ({ id, jobId, type, tenant }): Stuck => ({
        job: jobId,
        method: type,
        organization: tenant,
        secondsLeft: null,
        letter: id,
      }),
    )
  return [...late, ...killed]
}
