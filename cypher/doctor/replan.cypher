// name: doctor.replan
// mode: write
// params:
// returns:
// Remedy: count anew what the indexes hold, and forget the plans made with the old numbers.
CALL db.prepareForReplanning()
