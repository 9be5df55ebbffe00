// Versions of a payload: jobs outlive the code that enqueued them, and are brought up to date when they run.
import { InvalidDefinition, NewerPayload, PayloadNotUpgraded } from '../errors.ts'
import { failureFrom } from '../failure.ts'
import type { JobContract } from './job.ts'

/** Makes of a payload of one version one of the next. Plain data in, plain data out; it may be called again and again. */
// biome-ignore lint/suspicious/noExplicitAny: the type of an older payload is gone with the code that had it
export type PayloadStep = (payload: any) => unknown

/** By the version that a step starts from. */
export type PayloadSteps = Readonly<Record<number, PayloadStep>>

const MAX_VERSION = 10_000

/**
 * Steps lead to the current version without a gap. The first ones may be left out when no job of those versions is
 * stored any more.
 */
export function checkVersions(type: string, version: number, steps: PayloadSteps): void {
  if (!Number.isInteger(version) || version < 1 || version > MAX_VERSION) {
    throw new InvalidDefinition(`Job "${type}" has version ${version}: expected an integer from 1 to ${MAX_VERSION}.`)
  }
  const given = Object.keys(steps).map(Number)
  const stray = given.find((from) => !Number.isInteger(from) || from < 1 || from >= version)
  if (stray !== undefined) {
    throw new InvalidDefinition(
      `Job "${type}" has version ${version} and a step migrate[${stray}]: steps start from versions 1 to ${version - 1}. Raise the version, or remove the step.`,
    )
  }
  for (let from = Math.min(...given, version - 1); from > 0 && from < version; from++) {
    if (typeof steps[from] === 'function') continue
    throw new InvalidDefinition(
      `Job "${type}" has version ${version}, but no function migrate[${from}] that makes version ${from + 1} of version ${from}: jobs that are stored already could not run. Add the step; \`(payload) => payload\` if nothing changed.`,
    )
  }
}

/** The payload as the contract's schema knows it. Throws PayloadNotUpgraded, or NewerPayload. */
export function upgraded(contract: JobContract, stored: unknown, from: number): unknown {
  const { type, version, migrate } = contract
  if (from === version) return stored
  if (from > version) throw new NewerPayload(type, from, version)
  let payload = stored
  for (let at = from; at < version; at++) {
    const step = migrate[at]
    if (step === undefined) throw new PayloadNotUpgraded(type, { from, to: version, at })
    try {
      payload = step(payload)
    } catch (cause) {
      throw new PayloadNotUpgraded(type, { from, to: version, at, threw: told(contract, cause), cause })
    }
  }
  return payload
}

/** A message may quote the payload. */
function told({ sensitive }: JobContract, thrown: unknown): string {
  const { class: name, message } = failureFrom(thrown)
  return sensitive.length > 0 ? name : `${name}: ${message}`
}
