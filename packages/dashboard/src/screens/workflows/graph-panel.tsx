// The graph of a workflow: steps downwards, undos upwards beside them.
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/link.tsx'
import { useQueueClass } from '../../ui/queue-colour.ts'
import { formatNumber } from '../../ui/text/format.ts'
import { type GraphNode, graphOf } from './graph-layout.ts'
import { stepLook, undoLook } from './states.tsx'
import type { Step, Times, WorkflowDetails } from './workflow-data.ts'

const route = getRouteApi('/workflows/$id')

export function GraphPanel({ workflow, times }: { workflow: WorkflowDetails; times: readonly Times[] }) {
  const graph = useMemo(() => graphOf(workflow, times), [workflow, times])
  const hasUndo = graph.nodes.some(({ kind }) => kind === 'undo')
  return (
    <Card title="Graph" note={hasUndo ? 'dashed: undo, upwards' : undefined} className="wf-graph">
      <section className="graph" aria-label="Graph of the steps">
        <div style={{ width: graph.width, height: graph.height }}>
          <svg width={graph.width} height={graph.height} aria-hidden="true">
            {graph.edges.map(({ key, kind, path }) => (
              <path key={key} className={kind} d={path} />
            ))}
          </svg>
          {graph.nodes.map((node) => (
            <Node key={node.key} node={node} workflowId={workflow.id} times={times} />
          ))}
        </div>
      </section>
    </Card>
  )
}

interface NodeProps {
  node: GraphNode
  workflowId: string
  times: readonly Times[]
}

function Node({ node, workflowId, times }: NodeProps) {
  const { step: open } = route.useSearch()
  const { kind, steps, x, y, width, height } = node
  const [first] = steps as [Step]
  const run = times.find((each) => each.name === first.name && each.kind === 'do')
  const queue = useQueueClass(run?.queue ?? '')
  const look = kind === 'undo' ? undoLook(first) : stepLook(first)
  const jobs = steps.length > 1 ? steps.length : first.jobs
  const title = steps.length > 1 ? (run?.type ?? first.name) : first.name
  const name = `${kind === 'undo' ? 'undo ' : ''}${title}${kind === 'step' && jobs > 1 ? ` × ${formatNumber(jobs)}` : ''}`
  const word = steps.length > 1 ? summary(steps) : look.word
  return (
    <Link
      to={`/workflows/${workflowId}?step=${encodeURIComponent(first.name)}`}
      className={`plain n ${kind} ${first.status} ${kind === 'undo' ? `undo-${first.undo}` : queue} ${open === first.name ? 'on' : ''}`}
      style={{ left: x, top: y, width, height }}
    >
      <b>
        <Icon name={look.icon} />
        <span>{name}</span>
      </b>
      <span className="word">{word}</span>
      {kind === 'step' && jobs > 1 && <Cells states={statesOf(steps, run)} />}
    </Link>
  )
}

const LETTERS: Record<string, string> = { completed: 'c', failed: 'f', cancelled: 'x', running: 'r' }

const statesOf = (steps: readonly Step[], run: Times | undefined): string =>
  steps.length > 1 ? steps.map(({ status }) => LETTERS[status] ?? 'w').join('') : (run?.states ?? '')

function summary(steps: readonly Step[]): string {
  const completed = steps.filter(({ status }) => status === 'completed').length
  return `${completed} of ${steps.length} completed`
}

/** So many cells at most: with more jobs, each cell is several of them. */
const MOST = 96
/** The worst of a cell's jobs is shown. */
const RANK = 'frxwc'
const CLASSES: Record<string, string> = { f: 'fail', r: 'run', x: 'off', w: 'wait', c: 'ok' }

function Cells({ states }: { states: string }) {
  const each = Math.max(1, Math.ceil(states.length / MOST))
  const cells: string[] = []
  for (let i = 0; i < states.length; i += each) {
    const part = states.slice(i, i + each)
    cells.push([...RANK].find((letter) => part.includes(letter)) ?? 'w')
  }
  return (
    <span className="cells" aria-hidden="true">
      {cells.map((letter, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its place
        <i key={i} className={CLASSES[letter] ?? 'wait'} />
      ))}
    </span>
  )
}
