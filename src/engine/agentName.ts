/** The name of the agent loop of prove_verl.py, which rows for verl and agent_loops.yaml have. */
export const agentName = "prove_agent";
