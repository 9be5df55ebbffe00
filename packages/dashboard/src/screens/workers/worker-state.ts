// How a worker is, in words. Pure.
import type { Answer } from '../../data/queries.ts'
import type { IconName } from '../../ui/icon.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Tone } from '../../ui/tone.ts'

export type Worker = Answer<'workers', 'list'>['workers'][number]

export interface WorkerState {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
  readonly says: string | null
}

/** A worker beats every few seconds. After this it is worth a word; its lease says when it counts as dead. */
const SILENT_MS = 20_000
const LAG_MS = 500

const ASKED = { quiet: 'asked to pause', stop: 'asked to stop' } as const

export function stateOf({ heartbeatAt, report, request }: Worker, now: number): WorkerState {
  const silentMs = now - new Date(heartbeatAt).getTime()
  if (silentMs > SILENT_MS) {
    const says = `Not heard of for ${Math.round(silentMs / 1_000)} s. When its lease ends, others take its jobs.`
    return { tone: 'fail', icon: 'fail', word: 'silent', says }
  }
  if (report === null) return { tone: 'info', icon: 'wait', word: 'starting', says: null }
  if (report.state === 'stopping') {
    const says = `It takes no more jobs and ends after ${counted(report.running, 'run')}.`
    return { tone: 'late', icon: 'stop', word: 'stopping', says: request ? `${request.by}: ${request.reason}` : says }
  }
  if (report.state === 'quiet') {
    const says = request ? `${request.by}: ${request.reason}` : 'It takes no more jobs.'
    return { tone: 'late', icon: 'held', word: 'quiet', says }
  }
  // It hears of that with its next heartbeat.
  if (request)
    return { tone: 'late', icon: 'wait', word: ASKED[request.kind], says: `${request.by}: ${request.reason}` }
  if (report.memory.isHigh)
    return { tone: 'late', icon: 'late', word: 'short of memory', says: 'It takes no jobs until memory is freed.' }
  if (report.loopLagMs > LAG_MS) {
    const says = `A handler blocks its event loop for ${Math.round(report.loopLagMs)} ms at a time.`
    return { tone: 'late', icon: 'late', word: 'blocked', says }
  }
  if (report.suspectJobId !== null) {
    const says = `It runs job ${report.suspectJobId} alone: a worker that ran it died.`
    return { tone: 'info', icon: 'run', word: 'careful', says }
  }
  return { tone: 'ok', icon: 'ok', word: 'working', says: report.isListening ? null : 'Without LISTEN: it polls.' }
}

export const slotsOf = ({ report }: Worker): { used: number; of: number } => ({
  used: report?.lanes.reduce((sum, lane) => sum + lane.running, 0) ?? 0,
  of: report?.lanes.reduce((sum, lane) => sum + lane.slots, 0) ?? 0,
})
