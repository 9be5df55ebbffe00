// Pause and resume a queue.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { type Answer, refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { sentenceOf } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'

type Pause = Answer<'pauses', 'list'>['pauses'][number]

const SPANS = [
  ['15m', '15 minutes'],
  ['1h', 'an hour'],
  ['6h', 'six hours'],
  ['1d', 'a day'],
  ['', 'until somebody resumes it'],
] as const

const changed = () => refresh('queues', 'pauses', 'health')

export function QueuePause({ queue, pauses, waiting }: { queue: string; pauses: readonly Pause[]; waiting: number }) {
  const may = useMay()
  const [isAsking, setAsking] = useState(false)
  if (!may('pauses.set')) return null
  const resume = async () => {
    try {
      await api.pauses.end({ queue, all: true })
      await changed()
      toast({ says: `${queue} runs again.` })
    } catch (error) {
      toast({ says: `It was not resumed: ${sentenceOf(error)}`, tone: 'fail' })
    }
  }
  return (
    <div className="acts lead">
      {pauses.length > 0 && (
        <Button variant="primary" onClick={resume}>
          <Icon name="run" />
          Resume {queue}
        </Button>
      )}
      {pauses.map(({ by, reason, expiresAt, createdAt }) => (
        <span key={`${by} ${+new Date(createdAt)}`} className="note">
          {by} paused it <RelativeTime at={createdAt} />: {reason}
          {expiresAt && (
            <>
              {'. '}
              It ends <RelativeTime at={expiresAt} />.
            </>
          )}
        </span>
      ))}
      {pauses.length === 0 && (
        <Button onClick={() => setAsking(true)}>
          <Icon name="held" />
          Pause {queue}…
        </Button>
      )}
      <PauseDialog isOpen={isAsking} onClose={() => setAsking(false)} queue={queue} waiting={waiting} />
    </div>
  )
}

interface PauseProps {
  isOpen: boolean
  onClose: () => void
  queue: string
  waiting: number
}

function PauseDialog({ isOpen, onClose, queue, waiting }: PauseProps) {
  const [reason, setReason] = useState('')
  const [span, setSpan] = useState('1h')
  const [problem, setProblem] = useState<string | null>(null)
  const pause = async () => {
    try {
      await api.pauses.set({ queue, reason, ...(span !== '' && { for: span }) })
      await changed()
      onClose()
      const onUndo = async () => {
        await api.pauses.end({ queue })
        await changed()
      }
      toast({ says: `${queue} is paused.`, onUndo })
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  return (
    <Dialog
      title={`Pause ${queue}?`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button
            variant="primary"
            onClick={pause}
            disabledBecause={reason.trim() === '' ? 'Give a reason first.' : null}
          >
            Pause it
          </Button>
        </>
      }
    >
      <p>
        No more of its jobs start: {counted(waiting, 'job')} {waiting === 1 ? 'waits' : 'wait'} on. Jobs that run now go
        on, and new ones are still taken in.
      </p>
      <div className="form">
        <Field label="Reason" hint="Shown to whoever asks why a job waits." wrong={problem}>
          <input type="text" value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </Field>
        <Field label="For">
          <select value={span} onChange={(event) => setSpan(event.target.value)}>
            {SPANS.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </Field>
      </div>
    </Dialog>
  )
}
