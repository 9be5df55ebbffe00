// One workflow: how it stands, when its steps ran, and what can be done about it. On a phone the steps come before the graph.
import { AdminError } from '@millrace/admin/contract'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useKeyHints } from '../../app/key-hints.ts'
import { useTitle } from '../../app/title.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { JsonBlock } from '../../ui/code-block.tsx'
import type { KeyHint } from '../../ui/key-hints.tsx'
import { useKeys } from '../../ui/keys.ts'
import { Link, useGo } from '../../ui/link.tsx'
import { TenantName } from '../../ui/names.tsx'
import { EmptyState, ErrorState, Skeleton, SkeletonRows } from '../../ui/states.tsx'
import { Duration } from '../../ui/text/figures.tsx'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { Verdict } from '../../ui/verdict.tsx'
import { WorkflowActions } from './actions.tsx'
import { RollbackBanner } from './rollback-banner.tsx'
import { StepTable } from './step-table.tsx'
import { sentenceOf } from './verdict-of.tsx'
import './workflow.css'
import { rollbackOf } from './rollback.ts'
import { hasEnded, type Times, useWorkflow, type WorkflowDetails } from './workflow-data.ts'

const route = getRouteApi('/workflows/$id')
/** With the layout library, which nothing else needs. */
const GraphPanel = lazy(() => import('./graph-panel.tsx').then(({ GraphPanel }) => ({ default: GraphPanel })))

const LOOK: readonly KeyHint[] = [
  { keys: 'f', does: 'follow what runs' },
  { keys: 'h', does: 'hide completed steps' },
]
const ACT: readonly KeyHint[] = [{ keys: 'r', does: 'resume' }, { keys: 'c', does: 'cancel' }, ...LOOK]

export function WorkflowScreen() {
  const { id } = route.useParams()
  const may = useMay()
  useTitle(`Workflow ${id}`)
  useKeyHints(may('workflows.resume') ? ACT : LOOK)
  const { workflow, times } = useWorkflow(id)
  if (workflow.data) return <Shown key={id} workflow={workflow.data} times={times} />
  if (workflow.error === null)
    return (
      <div aria-busy="true">
        <SkeletonRows rows={10} />
      </div>
    )
  const isGone = workflow.error instanceof AdminError && workflow.error.status === 404
  return (
    <>
      <Verdict>{isGone ? `There is no workflow ${id}.` : 'The workflow cannot be shown.'}</Verdict>
      {isGone ? (
        <EmptyState title="It is not here." action={<Link to="/workflows">All workflows</Link>}>
          <p>{workflow.error.message}</p>
        </EmptyState>
      ) : (
        <ErrorState what="The workflow could not be read." error={workflow.error} onRetry={workflow.refetch} />
      )}
    </>
  )
}

function Shown({ workflow, times }: { workflow: WorkflowDetails; times: readonly Times[] }) {
  const { id, name, tenant, createdAt, finishedAt, steps, parentId } = workflow
  const { hide } = route.useSearch()
  const { go } = useGo()
  const isHiding = hide === 'completed'
  const toggle = () => go(`/workflows/${id}${isHiding ? '' : '?hide=completed'}`)
  const [isFollowing, setFollowing] = useFollowing(workflow)
  useKeys({ h: toggle, f: () => setFollowing(!isFollowing) })
  const undos = rollbackOf(steps)
  const begun = undos.done.length + (undos.now ? 1 : 0)
  const isRolledBack = workflow.status.startsWith('roll') && begun > 0
  return (
    <>
      <nav className="crumbs" aria-label="Breadcrumb">
        <ol>
          <li>
            <Link to="/workflows">Workflows</Link>
          </li>
          <li>
            <Link to={`/workflows?name=${encodeURIComponent(name)}`}>{name}</Link>
          </li>
          <li aria-current="page" className="mono">
            {id}
          </li>
        </ol>
      </nav>
      <Verdict
        facts={[
          name,
          tenant !== null && <TenantName key="tenant" name={tenant} />,
          counted(steps.length, 'step'),
          <>
            started <RelativeTime at={createdAt} />
          </>,
          finishedAt !== null && (
            <>
              took <Duration ms={Date.parse(finishedAt) - Date.parse(createdAt)} />
            </>
          ),
          isRolledBack && `${undos.done.length} of ${counted(begun + undos.next.length, 'undo')} done`,
          parentId !== null && (
            <>
              a step of workflow <Link to={`/workflows/${parentId}`}>{parentId}</Link>
            </>
          ),
        ]}
      >
        {sentenceOf(workflow)}
      </Verdict>
      {workflow.reason !== null && <p className="note wf-reason">{workflow.reason}</p>}
      <RollbackBanner workflow={workflow} times={times} />
      <div className="bar">
        <WorkflowActions workflow={workflow} times={times} />
        <span className="acts">
          {!hasEnded(workflow) && (
            <Button aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
              Follow what runs <kbd>f</kbd>
            </Button>
          )}
          <Button aria-pressed={isHiding} onClick={toggle}>
            Hide completed steps <kbd>h</kbd>
          </Button>
        </span>
      </div>
      <div className="wf">
        <StepTable workflow={workflow} times={times} isHiding={isHiding} />
        <Suspense
          fallback={
            <Card title="Graph">
              <Skeleton height={320} />
            </Card>
          }
        >
          <GraphPanel workflow={workflow} times={times} />
        </Suspense>
      </div>
      {workflow.input !== undefined && workflow.input !== null && (
        <Card title="Input" note="sensitive values are never shown">
          <JsonBlock label="Input of the workflow" value={workflow.input} height={280} />
        </Card>
      )}
    </>
  )
}

/** While it is on, the step that runs stays in view. */
function useFollowing({ steps }: WorkflowDetails): [boolean, (isOn: boolean) => void] {
  const [isOn, setOn] = useState(false)
  const current = steps.find(({ status, undo }) => status === 'running' || undo === 'running')
  const row = current && `${current.undo === 'running' ? 'undo' : 'step'}-${current.name}`
  useEffect(() => {
    if (isOn && row) document.getElementById(row)?.scrollIntoView({ block: 'center' })
  }, [isOn, row])
  return [isOn, setOn]
}
