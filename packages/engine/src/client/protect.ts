// What is sensitive in a job, on its way into the database and on its way to people.
import type { JobContract } from '../contract/job.ts'
import { REDACTED, Redactor } from '../contract/redact.ts'
import type { Registry } from '../contract/registry.ts'
import { openStored, ownerOf, sealText, valuesAt } from '../contract/sealed.ts'
import { upgraded } from '../contract/versions.ts'
import { InvalidPayload } from '../errors.ts'
import type { WholeDeadLetter } from '../store/dead-letters.ts'
import type { Job, NewJob } from '../store/jobs.ts'

/** The row as it is stored: sensitive values encrypted, and keys that say something about them as HMACs. */
export function protectedJob({ keys }: Registry, contract: JobContract, job: NewJob): NewJob {
  if (contract.sensitive.length === 0) return job
  const { type } = contract
  const { queue, dedupKey, orderKey, limitKey } = job
  const tenant = job.tenant ?? ''
  const hmac = (key: string | null, place: readonly string[]) =>
    key === null ? null : (keys?.lookup(type, key, place) ?? null)
  return {
    ...job,
    payload: sealText(keys, { contract, part: 'payload', owner: ownerOf(job) }, job.payload),
    dedupKey: hmac(dedupKey, [type, tenant]),
    // Those belong to the queue: its sensitive types share them.
    orderKey: hmac(orderKey, ['order', queue, tenant]),
    limitKey: hmac(limitKey, ['limit', queue, tenant]),
  }
}

/** The payload that a dead letter holds, decrypted and of the contract's version. */
export function originalPayload(
  { keys }: Registry,
  contract: JobContract,
  { originalJob: original, ...letter }: WholeDeadLetter,
): unknown {
  const opened = openStored(keys, { contract, part: 'payload', owner: ownerOf(letter) }, original.payload)
  return upgraded(contract, opened, original.payload_version)
}

/** A payload that was copied from what is shown has marks where secrets were: to run with them would be worse than not to. */
export function edited(contract: JobContract, payload: unknown): unknown {
  if (!valuesAt(payload, contract.allowSecrets).includes(REDACTED)) return payload
  const message = `it has ${REDACTED} where a secret belongs; give the secret itself, or leave the payload as it was`
  throw new InvalidPayload(contract.type, [{ path: '', message }])
}

/** For people, and for programs that only look: nothing encrypted is decrypted, and no secret is shown. */
export function shown<Value>(registry: Registry, type: string, value: Value): Value {
  const paths = registry.find(type)?.allowSecrets ?? []
  return new Redactor({ paths, onlyCertain: true }).json(value) as Value
}

export function shownJob<Shown extends Job>(registry: Registry, job: Shown): Shown {
  const { type, payload, result } = job
  return { ...job, payload: shown(registry, type, payload), result: shown(registry, type, result) }
}

/** As the erasing statements leave a payload. */
export const isErased = (payload: unknown): boolean => JSON.stringify(payload) === '{"erased":true}'
