export function WorkflowsScreen() {
  return <h1 className="verdict">Workflows</h1>
}
