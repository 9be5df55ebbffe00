// How runs end: error rates, runs that are stuck, and dead letters.
import { type Check, degraded, failing } from './check.ts'
import { capitalised, counted, percent } from './words.ts'

const MAX_ERROR_RATE = 0.1
/** Of a type with fewer runs an error rate says little. */
const MIN_RUNS = 10
/** Of all runs of the last five minutes. */
const FAILING_RATE = 0.5
const FAILING_RUNS = 20
const MAX_LETTERS = 50

export const errorRate: Check = {
  name: 'error_rate',
  area: 'runs',
  look({ vitals: { types } }) {
    const sum = (read: (type: (typeof types)[number]) => number) => types.reduce((total, type) => total + read(type), 0)
    const runs = sum(({ lastHour }) => lastHour.runs)
    const [recent, failed] = [
      sum(({ lastMinutes }) => lastMinutes.runs),
      sum(({ lastMinutes }) => lastMinutes.failures),
    ]
    const ofAll =
      recent >= FAILING_RUNS && failed / recent >= FAILING_RATE
        ? [
            failing(
              `${failed} of ${recent} runs of the last five minutes failed: ${percent(failed / recent)}.`,
              'Look for what they have in common, such as a service or a deployment: `millrace dead groups`, `millrace breakers`.',
            ),
          ]
        : []
    const ofTypes = types.flatMap(({ type, lastHour }) => {
      if (lastHour.runs < MIN_RUNS || (lastHour.errorRate ?? 0) <= MAX_ERROR_RATE) return []
      return degraded(
        `${capitalised(counted(lastHour.failures, 'run'))} of ${lastHour.runs} of type "${type}" failed in the last hour: ${percent(lastHour.errorRate ?? 0)}.`,
        'Look at what its failures have in common: `millrace dead groups`, `millrace jobs --type TYPE --status failed`.',
      )
    })
    return {
      fine: `${capitalised(counted(runs, 'run'))} ended in the last hour, and no type fails often.`,
      complaints: [...ofAll, ...ofTypes],
    }
  },
}

export const stuckRuns: Check = {
  name: 'stuck_runs',
  area: 'runs',
  look({ vitals: { stuck } }) {
    return {
      fine: 'No run has gone on beyond twice its timeout.',
      complaints: stuck.map(({ jobId, type, hasEnded }) =>
        degraded(
          `A run of job ${jobId} of type "${type}" went on beyond twice its timeout${hasEnded ? ' in the last ten minutes; the job is a dead letter' : ''}.`,
          'Make the handler heed its abort signal, or give it a longer timeout; `isolation: "process"` lets the engine end it.',
        ),
      ),
    }
  },
}

export const deadLetters: Check = {
  name: 'dead_letters',
  area: 'runs',
  look({ vitals: { deadLetters: letters } }) {
    const says = `${capitalised(counted(letters.pending, 'dead letter'))} ${letters.pending === 1 ? 'waits' : 'wait'} for a decision.`
    return {
      fine: says,
      complaints:
        letters.pending < MAX_LETTERS
          ? []
          : [degraded(says, 'Look at them by cause: `millrace dead groups`. Redrive, resolve or ignore them.')],
    }
  },
}
