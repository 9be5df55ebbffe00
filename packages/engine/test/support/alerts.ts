import type { AlertOptions, JobContract, MillraceOptions } from 'millrace'
import { AlertEvaluator } from '#src/alerts/evaluator'
import { alertRules } from '#src/alerts/options'
import { Millrace } from '#src/millrace'
import { graveyard } from './dead-letters.ts'

/** Evaluates the alerts of a program now, as one of its workers would. */
export function evaluating(millrace: Millrace, alerts: AlertOptions = {}): () => Promise<unknown> {
  const onError = (during: string, error: unknown) => {
    throw new Error(during, { cause: error })
  }
  const { builtIn, own } = alertRules(alerts)
  return () => new AlertEvaluator({ ...Millrace.servicesOf(millrace), onError }).evaluate([...builtIn, ...own])
}

/** A database with a client whose alerts are evaluated by hand. */
export async function alerting(
  jobs: readonly JobContract[],
  alerts: AlertOptions = {},
  options: Partial<MillraceOptions> = {},
) {
  const t = await graveyard()
  const millrace = t.client(jobs, options)
  const errors: { during: string; error: unknown }[] = []
  const evaluatorOf = (client = millrace) =>
    new AlertEvaluator({
      ...Millrace.servicesOf(client),
      onError: (during, error) => void errors.push({ during, error }),
    })
  const { builtIn, own } = alertRules(alerts)
  return {
    ...t,
    millrace,
    errors,
    evaluatorOf,
    evaluate: (client = millrace) => evaluatorOf(client).evaluate([...builtIn, ...own]),
    /** Names and subjects of what fires. */
    firing: async () => (await millrace.alerts.list()).map(({ name, subject }) => `${name} ${subject}`),
  }
}
