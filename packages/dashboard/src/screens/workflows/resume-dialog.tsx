// Resume: what is kept, what is done anew, and with which payload.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { ask } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { counted, formatDuration, listed } from '../../ui/text/format.ts'
import { useChange, type WorkflowDialogProps } from './change-dialogs.tsx'
import { resumeOf, rollbackOf, tookMs } from './rollback.ts'
import type { Step, Times, WorkflowDetails } from './workflow-data.ts'

type Props = WorkflowDialogProps & { times: readonly Times[] }

export function ResumeDialog(props: Props) {
  // Its questions are asked only while it is open.
  return props.isOpen ? <OpenDialog {...props} /> : null
}

function OpenDialog({ workflow, times, onClose }: Props) {
  const { id, status } = workflow
  const failed = status === 'failed' ? workflow.steps.find(isEditable) : undefined
  const [edit, setEdit] = useState<string | null>(null)
  const given = edit === null ? undefined : parsed(edit)
  const payloads = failed && given && 'value' in given ? { payloads: { [failed.name]: given.value } } : {}
  const { error, run } = useChange(() => api.workflows.resume({ id, ...payloads }), {
    says:
      status === 'rolling back'
        ? `Workflow ${id} goes on as soon as the undo under way has ended.`
        : `Workflow ${id} is resumed.`,
    onClose,
  })
  const wrong = given && 'wrong' in given ? given.wrong : null
  return (
    <Dialog
      title={status === 'rolling back' ? 'Stop the rollback and resume?' : `Resume workflow ${id}?`}
      isOpen
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>{status === 'rolling back' ? 'Let it roll back' : 'Leave it'}</Button>
          <Button variant="primary" onClick={run} disabledBecause={wrong}>
            {edit === null ? 'Resume' : 'Resume with the edited payload'}
          </Button>
        </>
      }
    >
      <Consequences workflow={workflow} times={times} />
      {failed && <PayloadEditor step={failed} edit={edit} wrong={wrong} onEdit={setEdit} />}
      <CommandLine command={commandOf(id, failed, edit)} />
      {error !== null && <ErrorState what="It was not resumed." error={error} />}
    </Dialog>
  )
}

const isEditable = ({ status, kind, isList, jobIds }: Step): boolean =>
  status === 'failed' && kind === 'jobs' && !isList && jobIds.length > 0

function Consequences({ workflow, times }: { workflow: WorkflowDetails; times: readonly Times[] }) {
  if (workflow.status === 'rollback failed') {
    const failed = workflow.steps.filter(({ undo }) => undo === 'failed')
    return <p>The rollback goes on where it failed: {listed(failed.map(({ name }) => name))} is undone again.</p>
  }
  const { kept, again, follows, keptJobs } = resumeOf(workflow)
  const { now } = rollbackOf(workflow.steps)
  const saved = kept.reduce((sum, { name }) => sum + (tookMs(times, name) ?? 0), 0)
  return (
    <>
      {workflow.status === 'rolling back' && now && (
        <p>It waits for the undo of {now.name}, which is under way, and then goes forwards.</p>
      )}
      <dl className="kv">
        <dt>kept</dt>
        <dd>
          {kept.length === 0 ? 'nothing' : namesOf(kept)}
          {keptJobs > 0 && (
            <>
              : <b>{counted(keptJobs, 'job')}</b> {keptJobs === 1 ? 'is' : 'are'} not repeated
              {saved > 0 && `, which took ${formatDuration(saved)}`}
            </>
          )}
        </dd>
        <dt>done anew</dt>
        <dd>{again.length === 0 ? 'nothing' : namesOf(again)}</dd>
        {follows.length > 0 && (
          <>
            <dt>follows</dt>
            <dd>{namesOf(follows)}</dd>
          </>
        )}
      </dl>
    </>
  )
}

const MOST = 8

function namesOf(steps: readonly Step[]): string {
  const names = steps.slice(0, MOST).map(({ name, jobs }) => (jobs > 1 ? `${name} × ${jobs}` : name))
  const more = steps.length - names.length
  return more > 0 ? `${names.join(', ')} and ${more} more` : listed(names)
}

interface EditorProps {
  step: Step
  edit: string | null
  wrong: string | null
  onEdit: (text: string | null) => void
}

/** What the job that failed was given. As long as nothing is changed, the payload is computed anew. */
function PayloadEditor({ step, edit, wrong, onEdit }: EditorProps) {
  const { data } = useQuery(ask('jobs', 'get', { id: step.jobIds[0] ?? '' }))
  if (data?.payload === undefined) return null
  const before = JSON.stringify(data.payload, null, 2)
  return (
    <Field
      label={`Payload of ${step.name}`}
      hint="As it was given last. Unless you change it, the definition computes it anew."
      wrong={wrong}
    >
      <textarea
        className="inp mono"
        rows={Math.min(12, before.split('\n').length + 1)}
        spellCheck={false}
        value={edit ?? before}
        onChange={({ target: { value } }) => onEdit(value === before ? null : value)}
      />
    </Field>
  )
}

function parsed(text: string): { value: unknown } | { wrong: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { wrong: `This is no JSON: ${(error as Error).message}` }
  }
}

function commandOf(id: string, step: Step | undefined, edit: string | null): string {
  const base = `millrace workflows resume ${id}`
  return step === undefined || edit === null ? base : `${base} --payload '${step.name}={…}'`
}
