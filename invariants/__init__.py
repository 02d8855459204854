"""What is promised: properties, hazards, decision claims, verdicts, the report. The front desk of every judge."""
