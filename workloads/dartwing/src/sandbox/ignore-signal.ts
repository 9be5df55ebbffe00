// `dartwing_sandbox.ignore_signal`: a handler that goes on whatever its signal says, to show what becomes of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Implementation, implement } from 'millrace'
import { ignoreSignal } from '../contracts/monitoring.ts'
import type { DartwingSettings } from '../settings.ts'

export const sandboxHandlers = ({ DARTWING_SANDBOX: sandbox }: DartwingSettings): Implementation[] =>
  sandbox === 'off' ? [] : [ignoreSignalHandler()]

const ignoreSignalHandler = (): Implementation =>
  implement(ignoreSignal, async ({ seconds }) => {
    await sleep(seconds * 1_000)
    return { seconds }
  })
