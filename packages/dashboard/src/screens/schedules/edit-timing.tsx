// Another timing for a schedule, until somebody gives it back to the code.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import type { Schedule } from './schedule-state.ts'

interface EditTimingProps {
  schedule: Schedule
  isOpen: boolean
  onClose: () => void
}

export const EditTiming = (props: EditTimingProps) => (props.isOpen ? <OpenEditTiming {...props} /> : null)

type Timing =
  | { kind: 'cron'; expression: string; timeZone: string }
  | { kind: 'every'; everyMs: number; initialDelayMs: number }

const MINUTE = 60_000

function OpenEditTiming({ schedule, onClose }: EditTimingProps) {
  const { name, timing } = schedule
  const [kind, setKind] = useState<'cron' | 'every'>(timing.kind === 'every' ? 'every' : 'cron')
  const [expression, setExpression] = useState(String(timing.expression ?? '0 * * * *'))
  const [timeZone, setTimeZone] = useState(String(timing.timeZone ?? 'UTC'))
  const [minutes, setMinutes] = useState(String(Number(timing.everyMs ?? 15 * MINUTE) / MINUTE))
  const [failure, setFailure] = useState<unknown>(null)
  const everyMs = Math.round(Number(minutes) * MINUTE)
  const when: Timing = kind === 'cron' ? { kind, expression, timeZone } : { kind, everyMs, initialDelayMs: 0 }
  const wrong = kind === 'every' && !(everyMs >= 1_000) ? 'Expected a number of minutes, at least a second.' : null
  const save = async () => {
    try {
      await api.schedules.edit({ name, when })
    } catch (error) {
      return setFailure(error)
    }
    await refresh('schedules')
    toast({
      says: `${name} has another timing.`,
      tone: 'ok',
      onUndo: () =>
        api.schedules
          .edit({ name, when: schedule.isEdited ? (timing as Timing) : null })
          .then(() => refresh('schedules')),
    })
    onClose()
  }
  return (
    <Dialog
      isOpen
      title={`Edit the timing of ${name}`}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button variant="primary" disabledBecause={wrong} onClick={save}>
            Save
          </Button>
        </>
      }
    >
      <p>It holds on every process, also after the next start, until somebody gives it back to the code.</p>
      {timing.kind === 'calendar' && <p className="t-late">It follows a calendar now; what you save replaces that.</p>}
      <Field label="Fires">
        <select value={kind} onChange={(event) => setKind(event.target.value as 'cron' | 'every')}>
          <option value="cron">by a cron expression</option>
          <option value="every">every so many minutes</option>
        </select>
      </Field>
      {kind === 'cron' ? (
        <>
          <Field label="Cron expression" hint="Minute, hour, day of the month, month, day of the week: 0 2 * * 1">
            <input className="mono" value={expression} onChange={(event) => setExpression(event.target.value)} />
          </Field>
          <Field label="Time zone" hint="Such as Europe/Tallinn, or UTC">
            <input value={timeZone} onChange={(event) => setTimeZone(event.target.value)} />
          </Field>
        </>
      ) : (
        <Field label="Minutes" wrong={wrong}>
          <input inputMode="decimal" value={minutes} onChange={(event) => setMinutes(event.target.value)} />
        </Field>
      )}
      {failure !== null && <ErrorState what="The timing was not changed." error={failure} />}
    </Dialog>
  )
}
