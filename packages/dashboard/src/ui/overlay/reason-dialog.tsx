// A change that others will ask about: the dialog asks why, and for how long where that matters.
import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import { Field } from '../field.tsx'
import { ErrorState } from '../states.tsx'
import { Dialog } from './dialog.tsx'

export interface ReasonDialogProps {
  isOpen: boolean
  onClose: () => void
  title: ReactNode
  /** What will happen, in a sentence. */
  children: ReactNode
  /** On the button: 'Pause'. */
  verb: string
  isDangerous?: boolean
  /** By duration as the API reads it, '1h', the words for it; the first one is chosen. '' is "until somebody ends it". */
  durations?: Readonly<Record<string, string>>
  onRun: (answer: { reason: string; for: string | undefined }) => Promise<unknown>
}

export function ReasonDialog(props: ReasonDialogProps) {
  return props.isOpen ? <OpenReasonDialog {...props} /> : null
}

function OpenReasonDialog({
  onClose,
  title,
  children,
  verb,
  isDangerous = false,
  durations,
  onRun,
}: ReasonDialogProps) {
  const [reason, setReason] = useState('')
  const [duration, setDuration] = useState(Object.keys(durations ?? {})[0] ?? '')
  const [failure, setFailure] = useState<unknown>(null)
  const run = () =>
    onRun({ reason: reason.trim(), for: duration === '' ? undefined : duration }).then(onClose, setFailure)
  const missing = reason.trim() === '' ? 'Say why: others will ask.' : null
  return (
    <Dialog
      isOpen
      title={title}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button variant={isDangerous ? 'danger' : 'primary'} disabledBecause={missing} onClick={run}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{children}</p>
      <Field label="Reason" hint="Everybody who meets it sees this.">
        <input value={reason} maxLength={1_000} onChange={(event) => setReason(event.target.value)} />
      </Field>
      {durations && (
        <Field label="For how long">
          <select value={duration} onChange={(event) => setDuration(event.target.value)}>
            {Object.entries(durations).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </Field>
      )}
      {failure !== null && <ErrorState what="It was not done." error={failure} />}
    </Dialog>
  )
}
