// Why a job waits whose type depends on a service that is unwell.
import { serviceName } from '../contract/service.ts'
import { breakerLook, type SeenBreaker } from '../store/breakers.ts'
import type { Explainer, Reason } from './reason.ts'

export const explainBreakers: Explainer = async (job, { db, now, registry }) => {
  const services = registry.find(job.type)?.services.map(serviceName) ?? []
  if (services.length === 0) return undefined
  const held = (await breakerLook(db, now, services)).filter(({ state }) => state !== 'closed')
  return held.length === 0 ? undefined : held.map(reasonOf)
}

function reasonOf(row: SeenBreaker): Reason {
  const { serviceName: service, state, openUntil } = row
  return {
    mechanism: 'breaker',
    sentence: `The breaker of service "${service}" is ${sinceWhen(row)}, and jobs that depend on it are not taken meanwhile.`,
    until: state === 'open' ? openUntil : null,
    remedy: `millrace breakers reset ${service}`,
  }
}

const proberOf = (probe: SeenBreaker['probe']): string =>
  probe?.jobId == null ? 'a call outside of jobs' : `job ${probe.jobId}`

function sinceWhen({ state, openedAt, openUntil, halfOpenedAt, probe, isProbeLive }: SeenBreaker): string {
  const since = (time: Date | null) => (time === null ? '' : ` since ${time.toISOString()}`)
  if (state === 'half_open') {
    const trial = isProbeLive ? `${proberOf(probe)} tries the service` : 'the next job tries the service'
    return `half-open${since(halfOpenedAt)}: ${trial}`
  }
  const next =
    openUntil === null ? 'it stays so until somebody resets it' : `the next probe is at ${openUntil.toISOString()}`
  return `open${since(openedAt)}; ${next}`
}
