// What may be told about a run: its log lines and its failure, without what its job carries in confidence.
import { plainRedactor, Redactor, textsOf } from '../contract/redact.ts'
import { openStored, ownerOf, valuesAt } from '../contract/sealed.ts'
import {
  InvalidPayload,
  InvalidResult,
  LeaseLost,
  PayloadNotUpgraded,
  TimedOut,
  Undecryptable,
  WorkerStopping,
} from '../errors.ts'
import { type Failure, failureFrom } from '../failure.ts'
import type { Described } from '../fingerprint.ts'
import type { Run } from './run.ts'

/** Made when something is to be told: most runs say nothing. */
export function redactorOf({ contract, keys, job }: Pick<Run, 'contract' | 'keys' | 'job'>): Redactor {
  if (keys === undefined && contract.allowSecrets.length === 0) return plainRedactor
  const values: unknown[] = []
  try {
    const place = { contract, part: 'payload', owner: ownerOf(job) } as const
    const opened = openStored(keys, place, job.payload, (value) => values.push(value))
    values.push(...valuesAt(opened, contract.allowSecrets))
  } catch {
    // What cannot be decrypted was not seen by anybody here.
  }
  return new Redactor({ values: textsOf(values) })
}

export const WITHHELD = 'The message is withheld, because jobs of this type are sensitive.'

export function failureOfRun(run: Run, thrown: unknown): Failure {
  const isWithheld = run.contract.sensitive.length > 0 && !isOurs(thrown)
  return failureFrom(thrown, (described) => {
    const told = isWithheld ? withoutMessage(described) : described
    const { redactor } = run
    return {
      class: redactor.text(told.class),
      message: redactor.text(told.message),
      stack: told.stack === null ? null : redactor.text(told.stack),
    }
  })
}

/** Errors of ours that name types, paths and keys, and quote no value of a sensitive job. */
function isOurs(thrown: unknown): boolean {
  if (thrown instanceof InvalidPayload) return thrown.isStored
  const ours = [InvalidResult, LeaseLost, PayloadNotUpgraded, TimedOut, Undecryptable, WorkerStopping]
  return ours.some((each) => thrown instanceof each)
}

const FRAME = /^\s+at .{1,2000}:\d+:\d+\)?$/

/** The place stays, which is what a person needs to find the fault; a line of the message is not a place. */
function withoutMessage({ class: name, message, stack }: Described): Described {
  const header = stack?.indexOf(message) ?? -1
  const below = stack?.slice(header < 0 ? 0 : header + message.length)
  const frames = below?.split('\n').filter((line) => FRAME.test(line))
  return { class: name, message: WITHHELD, stack: frames === undefined ? null : [name, ...frames].join('\n') }
}
