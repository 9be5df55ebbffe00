export function BudgetsScreen() {
  return <h1 className="verdict">Budgets</h1>
}
