// A message to a channel, to see whether it works. The dialog waits for the answer of the channel.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { ask, refresh } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { Badge } from '../../ui/status-badge.tsx'

export function TestChannel({ known }: { known: readonly string[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>Test a channel…</Button>
      {isOpen && <OpenTest known={known} onClose={() => setOpen(false)} />}
    </>
  )
}

function OpenTest({ known, onClose }: { known: readonly string[]; onClose: () => void }) {
  const [channel, setChannel] = useState(known[0] ?? '')
  const [sent, setSent] = useState<string | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const send = async () => {
    setFailure(null)
    try {
      const { id } = await api.escalations.test({ channel: channel.trim() })
      setSent(id)
      await refresh('escalations')
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <Dialog
      isOpen
      title="Test a channel"
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            variant="primary"
            disabledBecause={channel.trim() === '' ? 'Name a channel first.' : null}
            onClick={send}
          >
            Send a test message
          </Button>
        </>
      }
    >
      <p>A worker sends it as it would send an escalation. It is marked as a test, and wakes nobody on PagerDuty.</p>
      <Field label="Channel" hint="As the escalation of the workload names it">
        <input list="known-channels" value={channel} onChange={(event) => setChannel(event.target.value)} />
      </Field>
      <datalist id="known-channels">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {sent !== null && <Outcome id={sent} />}
      {failure !== null && <ErrorState what="The test was not sent." error={failure} />}
    </Dialog>
  )
}

function Outcome({ id }: { id: string }) {
  const before = String(BigInt(id) + 1n)
  const { data } = useLive(ask('escalations', 'list', { before, limit: 1 }), { every: 1_000 })
  const row = data?.escalations.find((each) => each.id === id)
  return (
    <p role="status">
      {row?.sentAt ? (
        <Badge tone="ok">The message has reached the channel.</Badge>
      ) : row?.undeliverableAt ? (
        <Badge tone="fail">The channel refused it: {row.lastError}</Badge>
      ) : row?.lastError ? (
        <Badge tone="late">It has not arrived: {row.lastError}. It is tried again.</Badge>
      ) : (
        <Badge tone="off" icon="wait">
          A worker is sending it…
        </Badge>
      )}
    </p>
  )
}
