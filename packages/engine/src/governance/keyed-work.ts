// Why a keyed or deferred job waits, in words.
import {
  type AdmittedJob,
  type Deferral,
  type JobKey,
  jobDeferral,
  jobKey,
  jobKeyOf,
  keyAdmitted,
  type WorkKey,
} from '../store/keyed-work.ts'
import type { Explainer, Reason } from './reason.ts'

/** As many as a sentence can name. */
const NAMED = 5

export const explainKeyedWork: Explainer = async (job, { db, now }) => {
  if (job.status !== 'blocked') return undefined
  const deferral = await jobDeferral(db, job.id)
  if (deferral !== undefined) return deferralReason(deferral)
  const facts = await jobKey(db, job.id)
  const key = facts && jobKeyOf(facts)
  if (facts === undefined || key === undefined) return undefined
  const places = key.kind === 'order' ? 1 : (facts.concurrency ?? 0)
  const admitted = await keyAdmitted(db, key, Math.max(places, NAMED))
  return key.kind === 'order' ? orderReason(key, facts, admitted) : limitReason({ key, facts, places, admitted }, now)
}

function deferralReason({ queue, tenant, places, isFree }: Deferral): Reason {
  const mechanism = 'tenant'
  const [whose, where] = [`tenant ${JSON.stringify(tenant)}`, `queue ${JSON.stringify(queue)}`]
  if (isFree)
    return {
      mechanism,
      sentence: `Deferred jobs of ${whose} are let through within seconds.`,
      until: null,
      remedy: null,
    }
  const sentence = `Deferred until ${whose} has fewer than ${places} ${places === 1 ? 'job' : 'jobs'} in ${where}.`
  const remedy = `millrace tenants limit ${word(tenant)} ${word(queue)} --jobs N --over defer`
  return { mechanism, sentence, until: null, remedy }
}

function orderReason(key: WorkKey, facts: JobKey, [ahead]: readonly AdmittedJob[]): Reason {
  const mechanism = 'order'
  const name = `order key ${JSON.stringify(key.key)}`
  if (ahead !== undefined) {
    const sentence = `Blocked behind job ${ahead.id} of ${name}, ${whatItDoes(ahead)}.`
    return { mechanism, sentence, until: null, remedy: `millrace cancel ${ahead.id}` }
  }
  if (facts.stoppedBy !== null) {
    const sentence = `The ${name} was stopped by the death of job ${facts.stoppedBy} at ${time(facts.stoppedAt)}, and waits for a decision.`
    return { mechanism, sentence, until: null, remedy: `millrace retry ${facts.stoppedBy}, or ${continueCommand(key)}` }
  }
  return { mechanism, sentence: `Its ${name} is free: it is admitted within seconds.`, until: null, remedy: null }
}

interface LimitFacts {
  readonly key: WorkKey
  readonly facts: JobKey
  readonly places: number
  readonly admitted: readonly AdmittedJob[]
}

function limitReason({ key, facts, places, admitted }: LimitFacts, now: Date | null): Reason {
  const mechanism = 'key_limit'
  const name = `limit key ${JSON.stringify(key.key)}`
  const isDue = facts.runAt <= (now ?? new Date())
  if (!isDue) {
    const sentence = `Waits for its time, ${time(facts.runAt)}; until then it takes no place of ${name}.`
    return { mechanism, sentence, until: facts.runAt, remedy: null }
  }
  if (admitted.length < places)
    return {
      mechanism,
      sentence: `A place of ${name} is free: it is admitted within seconds.`,
      until: null,
      remedy: null,
    }
  const remedy = `millrace keys limit ${word(key.queue)} <places> --key ${word(key.key)}`
  const more = admitted.length > NAMED ? ` and ${admitted.length - NAMED} more` : ''
  const names = admitted.slice(0, NAMED).map((each) => `${each.id} (${whatItDoes(each)})`)
  const by = admitted.length === 0 ? '' : ` by jobs ${names.join(', ')}${more}`
  const sentence = `${admitted.length} of ${places} places of ${name} are taken${by}.`
  return { mechanism, sentence, until: null, remedy }
}

function whatItDoes({ status, startedAt, runAt }: AdmittedJob): string {
  return status === 'processing' ? `running since ${time(startedAt)}` : `waiting for its run, due ${time(runAt)}`
}

const time = (at: Date | null): string => at?.toISOString() ?? 'an unknown time'

/** The command that lets a stopped key go on. */
function continueCommand({ queue, tenant, key }: WorkKey): string {
  return `millrace keys continue ${word(queue)} ${word(key)}${tenant ? ` --tenant ${word(tenant)}` : ''}`
}

const word = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
